#include "textflag.h"

DATA lowHalf<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL lowHalf<>(SB), RODATA|NOPTR, $8
DATA slash<>+0(SB)/8, $0x2f2f2f2f2f2f2f2f
GLOBL slash<>(SB), RODATA|NOPTR, $8
DATA dot<>+0(SB)/8, $0x2e2e2e2e2e2e2e2e
GLOBL dot<>(SB), RODATA|NOPTR, $8

// Registers, in both functions:
//
//	SI text   CX n   AX i, and the answer   BX where the vector in hand begins
//	Y0 and Y1 the two tables   Y2 the low half of each byte   Y10 zero

#define BEGIN \
	MOVQ text+0(FP), SI \
	MOVQ n+8(FP), CX \
	MOVQ i+16(FP), AX \
	MOVQ nibbles+24(FP), DX \
	VBROADCASTI128 (DX), Y0 \
	VBROADCASTI128 16(DX), Y1 \
	VPBROADCASTQ lowHalf<>(SB), Y2 \
	VPXOR Y10, Y10, Y10

// OUTSIDE sets the bytes of Y6 that are not in the set, of the vector at BX. A
// shuffle gives 0 for an index of 128 and above, so these are outside.
#define OUTSIDE \
	VMOVDQU (SI)(BX*1), Y5 \
	VPSHUFB Y5, Y0, Y6 \
	VPSRLW $4, Y5, Y7 \
	VPAND Y2, Y7, Y7 \
	VPSHUFB Y7, Y1, Y7 \
	VPAND Y6, Y7, Y6 \
	VPCMPEQB Y10, Y6, Y6

// SLASHES adds to Y6 the slashes that follow a slash.
#define SLASHES \
	VPCMPEQB -1(SI)(BX*1), Y3, Y8 \
	VPCMPEQB Y3, Y5, Y9 \
	VPAND Y8, Y9, Y9 \
	VPOR Y9, Y6, Y6

// DOTS adds to Y6 the slashes and dots that follow a slash.
#define DOTS \
	VPCMPEQB -1(SI)(BX*1), Y3, Y8 \
	VPCMPEQB Y3, Y5, Y9 \
	VPCMPEQB Y4, Y5, Y11 \
	VPOR Y11, Y9, Y9 \
	VPAND Y8, Y9, Y9 \
	VPOR Y9, Y6, Y6

// The last vector ends where the text ends, and begins before AX: the bits of the
// bytes before AX are shifted out.
#define LAST \
	MOVQ CX, DI \
	LEAQ -32(CX), BX

#define SHIFT \
	MOVQ AX, CX \
	SUBQ BX, CX \
	SHRL CX, R8

// FIND is the body of endAVX2 and slashEndAVX2. MORE adds to the bytes of Y6 at
// which the scan stops.
#define FIND(MORE) \
	MOVQ AX, BX                 \
loop:                               \
	LEAQ 32(BX), R9             \
	CMPQ R9, CX                 \
	JHI  last                   \
	OUTSIDE                     \
	MORE                        \
	VPMOVMSKB Y6, R8            \
	TESTL R8, R8                \
	JNZ  found                  \
	MOVQ R9, BX                 \
	JMP  loop                   \
found:                              \
	BSFL R8, R8                 \
	LEAQ (BX)(R8*1), AX         \
	MOVQ AX, ret+32(FP)         \
	VZEROUPPER                  \
	RET                         \
last:                               \
	CMPQ BX, CX                 \
	JCC  none                   \
	MOVQ BX, AX                 \
	LAST                        \
	OUTSIDE                     \
	MORE                        \
	VPMOVMSKB Y6, R8            \
	SHIFT                       \
	TESTL R8, R8                \
	JZ   end                    \
	BSFL R8, R8                 \
	ADDQ R8, AX                 \
	MOVQ AX, ret+32(FP)         \
	VZEROUPPER                  \
	RET                         \
end:                                \
	MOVQ DI, CX                 \
none:                               \
	MOVQ CX, ret+32(FP)         \
	VZEROUPPER                  \
	RET

#define NOTHING

// func endAVX2(text *byte, n, i int, nibbles *[32]uint8) int
TEXT ·endAVX2(SB), NOSPLIT, $0-40
	BEGIN
	FIND(NOTHING)

// func slashEndAVX2(text *byte, n, i int, nibbles *[32]uint8) int
TEXT ·slashEndAVX2(SB), NOSPLIT, $0-40
	BEGIN
	VPBROADCASTQ slash<>(SB), Y3
	FIND(SLASHES)

// func dotEndAVX2(text *byte, n, i int, nibbles *[32]uint8) int
TEXT ·dotEndAVX2(SB), NOSPLIT, $0-40
	BEGIN
	VPBROADCASTQ slash<>(SB), Y3
	VPBROADCASTQ dot<>(SB), Y4
	FIND(DOTS)

// func markAVX2(words *uint64, text *byte, n int, nibbles *[32]uint8)
TEXT ·markAVX2(SB), NOSPLIT, $0-32
	MOVQ words+0(FP), DI
	MOVQ text+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ nibbles+24(FP), DX
	VBROADCASTI128 (DX), Y0
	VBROADCASTI128 16(DX), Y1
	VPBROADCASTQ lowHalf<>(SB), Y2
	VPXOR Y10, Y10, Y10
	XORQ BX, BX
	MOVQ CX, R9
	ANDQ $-32, R9
vector:
	OUTSIDE
	VPMOVMSKB Y6, R8
	MOVL R8, (DI)
	ADDQ $4, DI
	ADDQ $32, BX
	CMPQ BX, R9
	JCS  vector
	CMPQ BX, CX
	JEQ  done
	LEAQ -32(CX), BX // the last vector ends where the text ends
	OUTSIDE
	VPMOVMSKB Y6, R8
	SUBQ R9, CX
	NEGQ CX
	ADDQ $32, CX // the number of its bytes that are marked already
	SHRL CX, R8
	MOVL R8, (DI)
done:
	VZEROUPPER
	RET
