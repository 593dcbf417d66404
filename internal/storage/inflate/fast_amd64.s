#include "textflag.h"
#include "go_asm.h"

// Registers:
//
//	AX acc   BX n, whose bits above the lowest 8 are garbage
//	SI in+pos   R10 in+lastPos   DI out+o   R11 out+lastOut   R12 out
//	R8 literals   R9 distances   R13 the next entry, not yet consumed
//	DX length   R15 bits of the length, to give back   CX, R14 scratch

// REFILL is refill: it leaves 56 to 63 valid bits in acc.
#define REFILL(T) \
	SHLXQ BX, (SI), T  \
	ORQ   T, AX        \
	MOVL  BX, T        \
	SHRL  $3, T        \
	ANDL  $7, T        \
	SUBQ  T, SI        \
	ADDQ  $7, SI       \
	ORL   $56, BX

// NEXT looks up the next literal, length or link.
#define NEXT(T) \
	MOVL AX, T                  \
	ANDL $const_literalMask, T  \
	MOVL (R8)(T*4), R13

// TAKE consumes the bits of the entry.
#define TAKE \
	SHRXQ R13, AX, AX \
	SUBL  R13, BX

// PUT writes the literal of the entry.
#define PUT \
	SHRL $const_entryValue, R13 \
	MOVB R13, (DI)              \
	INCQ DI

// MEANING sets V to the length or distance of the entry. The shift uses only the
// width of the code, because no flag is set.
#define MEANING(V, T) \
	BZHIQ R13, AX, T \
	MOVL  R13, V     \
	SHRL  $8, V      \
	SHRXQ V, T, T    \
	SHRL  $8, V      \
	ADDQ  T, V

// LINKED follows the link in the entry. T has the bits after those of the link.
#define LINKED(TABLE, SIZE, T) \
	MOVL  R13, CX              \
	SHRL  $8, CX               \
	ANDL  $15, CX              \
	BZHIQ CX, T, CX            \
	SHRL  $const_entryValue, R13 \
	ADDL  R13, CX              \
	ANDL  $(SIZE-1), CX        \
	MOVL  (TABLE)(CX*4), R13

// repeats has a shuffle for each distance below 16, which repeats as many bytes as
// the distance. steps has the length of the whole repetitions in 16 bytes.
DATA repeats<>+0x00(SB)/8, $0x0000000000000000
DATA repeats<>+0x08(SB)/8, $0x0000000000000000
DATA repeats<>+0x10(SB)/8, $0x0000000000000000
DATA repeats<>+0x18(SB)/8, $0x0000000000000000
DATA repeats<>+0x20(SB)/8, $0x0100010001000100
DATA repeats<>+0x28(SB)/8, $0x0100010001000100
DATA repeats<>+0x30(SB)/8, $0x0100020100020100
DATA repeats<>+0x38(SB)/8, $0x0002010002010002
DATA repeats<>+0x40(SB)/8, $0x0302010003020100
DATA repeats<>+0x48(SB)/8, $0x0302010003020100
DATA repeats<>+0x50(SB)/8, $0x0201000403020100
DATA repeats<>+0x58(SB)/8, $0x0004030201000403
DATA repeats<>+0x60(SB)/8, $0x0100050403020100
DATA repeats<>+0x68(SB)/8, $0x0302010005040302
DATA repeats<>+0x70(SB)/8, $0x0006050403020100
DATA repeats<>+0x78(SB)/8, $0x0100060504030201
DATA repeats<>+0x80(SB)/8, $0x0706050403020100
DATA repeats<>+0x88(SB)/8, $0x0706050403020100
DATA repeats<>+0x90(SB)/8, $0x0706050403020100
DATA repeats<>+0x98(SB)/8, $0x0605040302010008
DATA repeats<>+0xa0(SB)/8, $0x0706050403020100
DATA repeats<>+0xa8(SB)/8, $0x0504030201000908
DATA repeats<>+0xb0(SB)/8, $0x0706050403020100
DATA repeats<>+0xb8(SB)/8, $0x04030201000a0908
DATA repeats<>+0xc0(SB)/8, $0x0706050403020100
DATA repeats<>+0xc8(SB)/8, $0x030201000b0a0908
DATA repeats<>+0xd0(SB)/8, $0x0706050403020100
DATA repeats<>+0xd8(SB)/8, $0x0201000c0b0a0908
DATA repeats<>+0xe0(SB)/8, $0x0706050403020100
DATA repeats<>+0xe8(SB)/8, $0x01000d0c0b0a0908
DATA repeats<>+0xf0(SB)/8, $0x0706050403020100
DATA repeats<>+0xf8(SB)/8, $0x000e0d0c0b0a0908
GLOBL repeats<>(SB), RODATA|NOPTR, $256

DATA steps<>+0(SB)/8, $0x0e0c0f100f101010
DATA steps<>+8(SB)/8, $0x0f0e0d0c0b0a0910
GLOBL steps<>(SB), RODATA|NOPTR, $16

// func loopBMI2(l *loop)
TEXT ·loopBMI2(SB), NOSPLIT, $0-8
	MOVQ l+0(FP), DX
	MOVQ loop_in(DX), SI
	MOVQ loop_lastPos(DX), R10
	ADDQ SI, R10
	ADDQ loop_pos(DX), SI
	MOVQ loop_out(DX), R12
	MOVQ loop_lastOut(DX), R11
	ADDQ R12, R11
	MOVQ loop_o(DX), DI
	ADDQ R12, DI
	MOVQ loop_literals(DX), R8
	MOVQ loop_distances(DX), R9
	MOVQ loop_acc(DX), AX
	MOVQ loop_n(DX), BX
	REFILL(CX)
	NEXT(CX)

loop:
	CMPQ  SI, R10
	JHI   done
	CMPQ  DI, R11
	JHI   done
	TESTL R13, R13
	JPL   match

	// Three literals take at most 33 of 56 bits and leave enough for a length.
	TAKE
	PUT
	NEXT(CX)
	TESTL R13, R13
	JPL   match
	TAKE
	PUT
	NEXT(CX)
	TESTL R13, R13
	JPL   match
	TAKE
	PUT
	NEXT(CX)
	TESTL R13, R13
	JPL   match
	REFILL(CX)
	JMP   loop

match:
	TESTL $const_entrySpecial, R13
	JNZ   special
	MOVL  R13, R15

length:
	MEANING(DX, CX)
	TAKE
	REFILL(CX)
	MOVBLZX AL, CX // distanceRoot bits
	MOVL    (R9)(CX*4), R13
	TESTL   $const_entrySpecial, R13
	JNZ     specialDistance

distance:
	MEANING(CX, R14)
	MOVQ DI, R14
	SUBQ R12, R14
	CMPQ CX, R14
	JHI  invalid // distance before the start of the output
	TAKE
	REFILL(R14)
	NEXT(R14)
	MOVQ DI, R15
	SUBQ CX, R15
	CMPQ CX, $16
	JCS  near
	MOVOU (R15), X0
	MOVOU X0, (DI)
	MOVOU 16(R15), X1
	MOVOU X1, 16(DI)
	CMPQ  DX, $32
	JHI   far
	ADDQ  DX, DI
	JMP   loop

// The match is longer than the 32 bytes that are copied.
far:
	ADDQ DI, DX // the end

copy:
	ADDQ  $32, R15
	ADDQ  $32, DI
	MOVOU (R15), X0
	MOVOU X0, (DI)
	MOVOU 16(R15), X1
	MOVOU X1, 16(DI)
	LEAQ  32(DI), CX
	CMPQ  CX, DX
	JCS   copy
	MOVQ  DX, DI
	JMP   loop

// The match overlaps itself: its first bytes, as many as the distance, repeat.
near:
	MOVOU (R15), X0
	LEAQ  steps<>(SB), R14
	MOVBLZX (R14)(CX*1), R15
	SHLL  $4, CX
	LEAQ  repeats<>(SB), R14
	MOVOU (R14)(CX*1), X1
	PSHUFB X1, X0
	ADDQ  DI, DX // the end

repeat:
	MOVOU X0, (DI)
	ADDQ  R15, DI
	CMPQ  DI, DX
	JCS   repeat
	MOVQ  DX, DI
	JMP   loop

// A link, the end of the block, or an invalid symbol.
special:
	TESTL $const_entryLink, R13
	JZ    done
	MOVQ  AX, R14
	SHRQ  $const_literalRoot, R14
	LINKED(R8, const_literalTable, R14)
	TESTL $const_entrySpecial, R13
	JNZ   done
	MOVQ  R14, AX
	SUBL  $const_literalRoot, BX
	LEAL  const_literalRoot(R13), R15
	TESTL R13, R13
	JPL   length
	TAKE
	PUT
	REFILL(CX)
	NEXT(CX)
	JMP   loop

// A link, or an invalid symbol.
specialDistance:
	TESTL $const_entryLink, R13
	JZ    invalid
	SHRQ  $const_distanceRoot, AX
	SUBL  $const_distanceRoot, BX
	ADDL  $const_distanceRoot, R15
	LINKED(R9, const_distanceTable, AX)
	TESTL $const_entrySpecial, R13
	JZ    distance

// The length must be decoded again.
invalid:
	ADDL R15, BX

done:
	MOVQ    l+0(FP), DX
	MOVBLZX BX, BX
	MOVQ    BX, loop_n(DX)
	SUBQ    loop_in(DX), SI
	MOVQ    SI, loop_pos(DX)
	SUBQ    R12, DI
	MOVQ    DI, loop_o(DX)
	RET
