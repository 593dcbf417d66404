#include "go_asm.h"
#include "textflag.h"

DATA lowHalf<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL lowHalf<>(SB), RODATA|NOPTR, $8
DATA slash<>+0(SB)/8, $0x2f2f2f2f2f2f2f2f
GLOBL slash<>(SB), RODATA|NOPTR, $8
DATA question<>+0(SB)/8, $0x3f3f3f3f3f3f3f3f
GLOBL question<>(SB), RODATA|NOPTR, $8
DATA hash<>+0(SB)/8, $0x2323232323232323
GLOBL hash<>(SB), RODATA|NOPTR, $8
DATA beforeA<>+0(SB)/8, $0x4040404040404040
GLOBL beforeA<>(SB), RODATA|NOPTR, $8
DATA afterZ<>+0(SB)/8, $0x5b5b5b5b5b5b5b5b
GLOBL afterZ<>(SB), RODATA|NOPTR, $8
DATA hyphen<>+0(SB)/8, $0x2d2d2d2d2d2d2d2d
GLOBL hyphen<>(SB), RODATA|NOPTR, $8
DATA dot<>+0(SB)/8, $0x2e2e2e2e2e2e2e2e
GLOBL dot<>(SB), RODATA|NOPTR, $8

// CLASSIFY sets the bytes of OUT whose byte of V is not in the set with the
// tables Y0 and Y1.
#define CLASSIFY(V, OUT) \
	VPSRLW $4, V, Y8 \
	VPAND Y2, Y8, Y8 \
	VPSHUFB V, Y0, OUT \
	VPSHUFB Y8, Y1, Y8 \
	VPAND OUT, Y8, OUT \
	VPCMPEQB Y10, OUT, OUT

// BITS moves the top bits of the bytes of LOW and HIGH to R.
#define BITS(LOW, HIGH, R) \
	VPMOVMSKB LOW, R \
	VPMOVMSKB HIGH, BX \
	SHLQ $32, BX \
	ORQ BX, R

// EQUAL sets the bits of R of the bytes that are equal to those of V.
#define EQUAL(V, R) \
	VPCMPEQB V, Y5, Y7 \
	VPCMPEQB V, Y6, Y8 \
	BITS(Y7, Y8, R)

// TRIM moves the bits of the text in hand to the lower end, and sets those after
// the text.
#define TRIM(R) \
	SHRXQ R12, R, R \
	ORQ R13, R

// FIRST stores the place of the first of 128 marks of a kind, the second half of which
// is NEXT.
#define FIRST(KIND, MARKS, NEXT) \
	TZCNTQ NEXT, R9 \
	ADDQ $64, R9 \
	TZCNTQ MARKS, R8 \
	CMOVQCS R9, R8 \
	MOVQ R8, (Survey_firsts+KIND)(R11)

// func surveyAVX2(s *Survey, text *byte, n, start int, c *Classes)
//
//	SI text   CX n   DI words   DX where the 64 bytes in hand begin
//	Y5 and Y6 what is loaded   R12 how many bytes precede them
//	AX 1 if a '.' at their start is special   R14 1 if a '/' is
//	R13 a bit for each place after the text
TEXT ·surveyAVX2(SB), NOSPLIT, $0-40
	MOVQ text+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ c+32(FP), DX
	MOVQ s+0(FP), R9
	MOVQ Survey_Words(R9), DI
	VBROADCASTI128 Classes_nibbles(DX), Y0
	VBROADCASTI128 (Classes_nibbles+16)(DX), Y1
	VPBROADCASTQ lowHalf<>(SB), Y2
	VPBROADCASTQ slash<>(SB), Y3
	VPBROADCASTQ dot<>(SB), Y4
	VPXOR Y10, Y10, Y10
	VPBROADCASTQ question<>(SB), Y11
	VPBROADCASTQ hash<>(SB), Y12
	XORL AX, AX
	XORL R14, R14
	XORL DX, DX

block:
	MOVQ DX, BX
	XORL R12, R12
	XORL R13, R13
	LEAQ 64(DX), R8
	CMPQ R8, CX
	JHI  partial

load:
	VMOVDQU (SI)(BX*1), Y5
	VMOVDQU 32(SI)(BX*1), Y6
	MOVQ s+0(FP), R9
	MOVQ Survey_Copy(R9), R9
	VMOVDQU Y5, (R9)(BX*1)
	VMOVDQU Y6, 32(R9)(BX*1)
	CLASSIFY(Y5, Y7)
	CLASSIFY(Y6, Y9)
	BITS(Y7, Y9, R8)
	EQUAL(Y3, R9)
	EQUAL(Y4, R10)
	LEAQ (R14)(R9*2), R11 // the places after a '/'
	MOVQ R9, R14
	SHRQ $63, R14
	ANDQ R9, R11
	ORQ  R8, R9
	LEAQ (AX)(R9*2), BX   // and those after a byte that is not plain
	MOVQ R9, AX
	SHRQ $63, AX
	ANDQ R10, BX
	ORQ  BX, R8
	ORQ  R11, R8
	TRIM(R8)
	MOVQ s+0(FP), R9
	MOVQ Survey_Special(R9), R9
	MOVQ DX, R11
	SHRQ $3, R11
	MOVQ R8, (R9)(R11*1)
	EQUAL(Y11, R11)
	TRIM(R11)
	MOVQ R11, (DI)
	EQUAL(Y12, R11)
	TRIM(R11)
	MOVQ R11, 8(DI)
	ADDQ $16, DI
	TESTQ DX, DX
	JNZ  next

	MOVQ start+24(FP), BX
	MOVQ $-1, R8
	SHLXQ BX, R8, R8
	ANDQ R8, (R9)
	MOVQ c+32(FP), BX
	MOVQ s+0(FP), R11
	VBROADCASTI128 (Classes_nibbles+32)(BX), Y0
	VBROADCASTI128 (Classes_nibbles+48)(BX), Y1
	CLASSIFY(Y5, Y7)
	CLASSIFY(Y6, Y9)
	BITS(Y7, Y9, R8)
	TRIM(R8)
	MOVQ R8, Survey_Labels(R11)
	VPBROADCASTQ hyphen<>(SB), Y13
	EQUAL(Y13, R8)
	ORQ  R10, R8
	TRIM(R8)
	MOVQ R8, (Survey_Labels+8)(R11)
	VPBROADCASTQ beforeA<>(SB), Y13
	VPBROADCASTQ afterZ<>(SB), Y14
	VPCMPGTB Y13, Y5, Y7
	VPCMPGTB Y5, Y14, Y8
	VPAND Y7, Y8, Y7
	VPCMPGTB Y13, Y6, Y8
	VPCMPGTB Y6, Y14, Y9
	VPAND Y8, Y9, Y8
	BITS(Y7, Y8, R8)
	TRIM(R8)
	MOVQ R8, (Survey_Labels+16)(R11)
	MOVQ c+32(FP), BX
	VBROADCASTI128 Classes_nibbles(BX), Y0
	VBROADCASTI128 (Classes_nibbles+16)(BX), Y1

next:
	ADDQ $64, DX
	CMPQ DX, CX
	JCS  block
	MOVQ $-1, BX         // if the text fills the last word
	MOVQ BX, (DI)
	MOVQ BX, 8(DI)
	MOVQ s+0(FP), R11
	MOVQ Survey_Special(R11), R9
	SHRQ $3, DX
	MOVQ BX, (R9)(DX*1)
	MOVQ Survey_Copy(R11), DX
	MOVL $0, (DX)(CX*1)
	MOVQ Survey_Special(R11), BX
	MOVQ Survey_Words(R11), DI
	FIRST(0, 0(BX), 8(BX))
	FIRST(8, 0(DI), 16(DI))
	FIRST(16, 8(DI), 24(DI))
	VZEROUPPER
	RET

// The last bytes are loaded with those before them. If there are fewer than 64
// bytes, those after the text are loaded too, unless that reaches another page,
// which may not exist.
partial:
	MOVQ CX, R9
	SUBQ DX, R9
	MOVQ $-1, R13
	SHLXQ R9, R13, R13
	CMPQ CX, $64
	JCC  early
	MOVQ SI, R9
	ANDL $4095, R9
	CMPL R9, $4032
	JLS  load

early:
	LEAQ -64(CX), BX
	MOVQ R8, R12
	SUBQ CX, R12
	JMP  load

// func chartAVX2(text *byte, n int, nibbles *[32]uint8, a, b byte) (isA, isB, outside uint64)
//
// If the 64 bytes from the text on reach another page, which may not exist, those
// that end with the text do not.
TEXT ·chartAVX2(SB), NOSPLIT, $0-56
	MOVQ text+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ nibbles+16(FP), DX
	VBROADCASTI128 (DX), Y0
	VBROADCASTI128 16(DX), Y1
	VPBROADCASTQ lowHalf<>(SB), Y2
	VPBROADCASTB a+24(FP), Y3
	VPBROADCASTB b+25(FP), Y4
	VPXOR Y10, Y10, Y10
	XORL R12, R12        // number of bytes loaded before the text
	MOVQ SI, R9
	ANDL $4095, R9
	CMPL R9, $4032
	JLS  near
	MOVL $64, R12
	SUBQ CX, R12
	SUBQ R12, SI

near:
	VMOVDQU (SI), Y5
	VMOVDQU 32(SI), Y6
	CLASSIFY(Y5, Y7)
	CLASSIFY(Y6, Y9)
	BITS(Y7, Y9, R8)
	EQUAL(Y3, R10)
	EQUAL(Y4, R11)
	VZEROUPPER
	SHRXQ R12, R8, R8
	SHRXQ R12, R10, R10
	SHRXQ R12, R11, R11
	BZHIQ CX, R8, R8
	BZHIQ CX, R10, R10
	BZHIQ CX, R11, R11
	MOVQ R10, isA+32(FP)
	MOVQ R11, isB+40(FP)
	MOVQ R8, outside+48(FP)
	RET
