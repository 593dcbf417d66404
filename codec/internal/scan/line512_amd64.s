#include "textflag.h"

// Registers, in all functions:
//
//	SI text   CX n   DX where the 64 bytes in hand begin
//	Z3 line feeds   Z5 the bytes   R8 the bits of line feeds

// LINE goes through the text up to the first line feed. MARK stores the marks of 64
// bytes. Bytes after the text are not read, and do not count.
#define LINE(MARK, RESULT) \
	MOVL $10, AX             \
	VPBROADCASTB AX, Z3      \
	XORL DX, DX              \
block:                           \
	LEAQ 64(DX), R9          \
	CMPQ R9, CX              \
	JHI  last                \
	VMOVDQU64 (SI)(DX*1), Z5 \
	VPCMPEQB Z3, Z5, K1      \
	MARK                     \
	KMOVQ K1, R8             \
	TESTQ R8, R8             \
	JNZ  found               \
	MOVQ R9, DX              \
	JMP  block               \
last:                            \
	SUBQ DX, CX              \
	MOVQ $-1, R8             \
	BZHIQ CX, R8, R8         \
	KMOVQ R8, K2             \
	VMOVDQU8.Z (SI)(DX*1), K2, Z5 \
	VPCMPEQB Z3, Z5, K1      \
	MARK                     \
	KMOVQ K1, R8             \
	TESTQ R8, R8             \
	JNZ  found               \
	VZEROUPPER               \
	MOVQ $0, RESULT          \
	RET                      \
found:                           \
	VZEROUPPER               \
	TZCNTQ R8, R8            \
	LEAQ 1(DX)(R8*1), AX     \
	MOVQ AX, RESULT          \
	RET

#define TWO \
	VPCMPEQB Z0, Z5, K3 \
	VPCMPEQB Z1, Z5, K4 \
	KMOVQ K3, (DI)      \
	KMOVQ K4, (R13)     \
	ADDQ $8, DI         \
	ADDQ $8, R13

// SET loads the arguments of a function for a Set.
#define SET \
	MOVQ text+0(FP), SI        \
	MOVQ n+8(FP), CX           \
	MOVQ nibbles+16(FP), DX    \
	VBROADCASTI32X4 (DX), Z0   \
	VBROADCASTI32X4 16(DX), Z1 \
	MOVL $15, AX               \
	VPBROADCASTB AX, Z2        \
	MOVQ words+24(FP), DI

// func lineOfTwoAVX512(text *byte, n int, a, b byte, as, bs *uint64) int
TEXT ·lineOfTwoAVX512(SB), NOSPLIT, $0-48
	MOVQ text+0(FP), SI
	MOVQ n+8(FP), CX
	VPBROADCASTB a+16(FP), Z0
	VPBROADCASTB b+17(FP), Z1
	MOVQ as+24(FP), DI
	MOVQ bs+32(FP), R13
	LINE(TWO, ret+40(FP))

// OUTSIDE stores the bits of the bytes that are not in the set.
#define OUTSIDE \
	VPSRLW $4, Z5, Z8       \
	VPANDQ Z2, Z8, Z8       \
	VPSHUFB Z5, Z0, Z6      \
	VPSHUFB Z8, Z1, Z7      \
	VPTESTNMB Z6, Z7, K3    \
	KMOVQ K3, (DI)          \
	ADDQ $8, DI

// func lineAVX512(text *byte, n int, nibbles *[32]uint8, words *uint64) int
TEXT ·lineAVX512(SB), NOSPLIT, $0-40
	SET
	LINE(OUTSIDE, ret+32(FP))

// AFTER has bytes of the set in R10, and in R13 whether the last one of the 64 bytes
// before is in the set.
#define AFTER \
	VPSRLW $4, Z5, Z8       \
	VPANDQ Z2, Z8, Z8       \
	VPSHUFB Z5, Z0, Z6      \
	VPSHUFB Z8, Z1, Z7      \
	VPTESTMB Z6, Z7, K3     \
	VPCMPEQB Z4, Z5, K4     \
	KMOVQ K3, R10           \
	KMOVQ K4, R11           \
	LEAQ (R13)(R10*2), R12  \
	MOVQ R10, R13           \
	SHRQ $63, R13           \
	ANDQ R11, R12           \
	MOVQ R12, (DI)          \
	ADDQ $8, DI

// func lineAfterAVX512(text *byte, n int, nibbles *[32]uint8, words *uint64, x byte) int
TEXT ·lineAfterAVX512(SB), NOSPLIT, $0-48
	SET
	VPBROADCASTB x+32(FP), Z4
	XORL R13, R13
	LINE(AFTER, ret+40(FP))
