#include "textflag.h"

DATA lowHalf<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL lowHalf<>(SB), RODATA|NOPTR, $8
DATA feed<>+0(SB)/8, $0x0a0a0a0a0a0a0a0a
GLOBL feed<>(SB), RODATA|NOPTR, $8

// Registers, in all functions:
//
//	SI text   CX n   DX where the 64 bytes in hand begin
//	Y3 line feeds   Y5 and Y6 the bytes   R12 how many bytes precede them
//	R8 the bits of line feeds

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

// CLASSIFY sets the bytes of OUT whose byte of V is not in the set with the
// tables Y0 and Y1.
#define CLASSIFY(V, OUT) \
	VPSRLW $4, V, Y8 \
	VPAND Y2, Y8, Y8 \
	VPSHUFB V, Y0, OUT \
	VPSHUFB Y8, Y1, Y8 \
	VPAND OUT, Y8, OUT \
	VPCMPEQB Y10, OUT, OUT

// LINE goes through the text up to the first line feed. MARK stores the marks of
// 64 bytes, after a shift by R12.
//
// If the 64 bytes from the last ones on reach another page, which may not exist,
// those that end with the text do not.
#define LINE(MARK, RESULT) \
	VPBROADCASTQ feed<>(SB), Y3          \
	XORL DX, DX                          \
	XORL R12, R12                        \
block:                                       \
	LEAQ 64(DX), R9                      \
	CMPQ R9, CX                          \
	JHI  last                            \
	VMOVDQU (SI)(DX*1), Y5               \
	VMOVDQU 32(SI)(DX*1), Y6             \
	EQUAL(Y3, R8)                        \
	MARK                                 \
	TESTQ R8, R8                         \
	JNZ  found                           \
	MOVQ R9, DX                          \
	JMP  block                           \
last:                                        \
	MOVQ CX, R9                          \
	SUBQ DX, R9                          \
	JEQ  none                            \
	LEAQ (SI)(DX*1), AX                  \
	ANDL $4095, AX                       \
	CMPL AX, $4032                       \
	JLS  near                            \
	MOVL $64, R12                        \
	SUBQ R9, R12                         \
near:                                        \
	MOVQ DX, BX                          \
	SUBQ R12, BX                         \
	VMOVDQU (SI)(BX*1), Y5               \
	VMOVDQU 32(SI)(BX*1), Y6             \
	EQUAL(Y3, R8)                        \
	SHRXQ R12, R8, R8                    \
	BZHIQ R9, R8, R8                     \
	MARK                                 \
	TESTQ R8, R8                         \
	JNZ  found                           \
none:                                        \
	VZEROUPPER                           \
	MOVQ $0, RESULT                      \
	RET                                  \
found:                                       \
	VZEROUPPER                           \
	BSFQ R8, R8                          \
	LEAQ 1(DX)(R8*1), AX                 \
	MOVQ AX, RESULT                      \
	RET

#define TWO \
	EQUAL(Y0, R10)      \
	EQUAL(Y1, R11)      \
	SHRXQ R12, R10, R10 \
	SHRXQ R12, R11, R11 \
	MOVQ R10, (DI)      \
	MOVQ R11, (R13)     \
	ADDQ $8, DI         \
	ADDQ $8, R13

// SET loads the arguments of a function for a Set.
#define SET \
	MOVQ text+0(FP), SI            \
	MOVQ n+8(FP), CX               \
	MOVQ nibbles+16(FP), DX        \
	VBROADCASTI128 (DX), Y0        \
	VBROADCASTI128 16(DX), Y1      \
	VPBROADCASTQ lowHalf<>(SB), Y2 \
	VPXOR Y10, Y10, Y10            \
	MOVQ words+24(FP), DI

// func lineOfTwoAVX2(text *byte, n int, a, b byte, as, bs *uint64) int
TEXT ·lineOfTwoAVX2(SB), NOSPLIT, $0-48
	MOVQ text+0(FP), SI
	MOVQ n+8(FP), CX
	VPBROADCASTB a+16(FP), Y0
	VPBROADCASTB b+17(FP), Y1
	MOVQ as+24(FP), DI
	MOVQ bs+32(FP), R13
	LINE(TWO, ret+40(FP))

// OUTSIDE stores the bits of the bytes that are not in the set.
#define OUTSIDE \
	CLASSIFY(Y5, Y7)    \
	CLASSIFY(Y6, Y9)    \
	BITS(Y7, Y9, R10)   \
	SHRXQ R12, R10, R10 \
	MOVQ R10, (DI)      \
	ADDQ $8, DI

// func lineAVX2(text *byte, n int, nibbles *[32]uint8, words *uint64) int
TEXT ·lineAVX2(SB), NOSPLIT, $0-40
	SET
	LINE(OUTSIDE, ret+32(FP))
