#include "textflag.h"
#include "block_amd64.h"

DATA lowFour<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL lowFour<>(SB), RODATA|NOPTR, $8
DATA lineFeeds<>+0(SB)/8, $0x0a0a0a0a0a0a0a0a
GLOBL lineFeeds<>(SB), RODATA|NOPTR, $8

// OUTSIDE sets the bytes of V, which is Y5 or Y6, that are not in the set.
#define OUTSIDE(V) \
	VPSRLW $4, V, Y7 \
	VPAND Y2, Y7, Y7 \
	VPSHUFB V, Y0, V \
	VPSHUFB Y7, Y1, Y7 \
	VPAND V, Y7, V \
	VPCMPEQB Y9, V, V

// func blockAVX2(class, feeds, same *uint64, text *byte, n int, nibbles *[32]uint8, x byte)
TEXT ·blockAVX2(SB), NOSPLIT, $0-49
	MOVQ class+0(FP), DI
	MOVQ feeds+8(FP), R8
	MOVQ same+16(FP), R9
	MOVQ text+24(FP), SI
	MOVQ n+32(FP), CX
	MOVQ nibbles+40(FP), DX
	VPBROADCASTB x+48(FP), Y4
	VBROADCASTI128 (DX), Y0
	VBROADCASTI128 16(DX), Y1
	VPBROADCASTQ lowFour<>(SB), Y2
	VPBROADCASTQ lineFeeds<>(SB), Y3
	VPXOR Y9, Y9, Y9
block:
	LOAD
	EQUAL(Y3, AX)
	EQUAL(Y4, BX)
	OUTSIDE(Y5)
	OUTSIDE(Y6)
	BITS(Y5, Y6, R10)
	ORQ AX, BX
	NOTQ R10
	MOVQ AX, (R8)
	MOVQ BX, (R9)
	MOVQ R10, (DI)
	ADDQ $64, SI
	ADDQ $8, DI
	ADDQ $8, R8
	ADDQ $8, R9
	DECQ CX
	JNZ block
	VZEROUPPER
	RET
