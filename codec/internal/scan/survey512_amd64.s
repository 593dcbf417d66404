#include "textflag.h"

// A byte, four times.
DATA four<>+0(SB)/4, $0x0f0f0f0f
DATA four<>+4(SB)/4, $0x2f2f2f2f // '/'
DATA four<>+8(SB)/4, $0x2e2e2e2e // '.'
DATA four<>+12(SB)/4, $0x3f3f3f3f // '?'
DATA four<>+16(SB)/4, $0x23232323 // '#'
DATA four<>+20(SB)/4, $0x2d2d2d2d // '-'
DATA four<>+24(SB)/4, $0x41414141 // 'A'
DATA four<>+28(SB)/4, $0x1a1a1a1a // number of letters
GLOBL four<>(SB), RODATA|NOPTR, $32

// CLASSIFY sets the bits of R of the bytes of Z5 that are not in the set with the
// tables LOW and HIGH. Z8 has the high halves of the bytes.
#define CLASSIFY(LOW, HIGH, R) \
	VPSHUFB Z5, LOW, Z6 \
	VPSHUFB Z8, HIGH, Z7 \
	VPTESTNMB Z6, Z7, K2 \
	KMOVQ K2, R

// EQUAL sets the bits of R of the bytes of Z5 that are equal to those of V.
#define EQUAL(V, R) \
	VPCMPEQB V, Z5, K3 \
	KMOVQ K3, R

// LOAD loads the next 64 bytes, or those that are left. R12 gets a bit for each
// place after the text.
#define LOAD \
	CMPQ CX, R14 \
	MOVQ R14, BX \
	CMOVQLT CX, BX \
	BZHIQ BX, R13, R12 \
	KMOVQ R12, K1 \
	NOTQ R12 \
	VMOVDQU8.Z (SI), K1, Z5

// func surveyAVX512(text *byte, n int, nibbles *[64]uint8, words *Word, labels *Labels)
//
//	SI text   CX bytes left   DI words   AX 1 if a '.' at the start is special
//	Z5 64 bytes; those after the text are 0   R13 and R14 the numbers -1 and 64
TEXT ·surveyAVX512(SB), NOSPLIT, $0-40
	MOVQ text+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ nibbles+16(FP), DX
	MOVQ words+24(FP), DI
	VBROADCASTI32X4 (DX), Z0
	VBROADCASTI32X4 16(DX), Z1
	VPBROADCASTD four<>+0(SB), Z2
	VPBROADCASTD four<>+4(SB), Z3
	VPBROADCASTD four<>+8(SB), Z4
	VPBROADCASTD four<>+12(SB), Z11
	VPBROADCASTD four<>+16(SB), Z12
	MOVQ $-1, R13
	MOVQ $64, R14
	LOAD
	VPSRLW $4, Z5, Z8
	VPANDQ Z2, Z8, Z8

	// The labels.
	MOVQ labels+32(FP), R11
	VBROADCASTI32X4 32(DX), Z13
	VBROADCASTI32X4 48(DX), Z14
	VPBROADCASTD four<>+20(SB), Z9
	VPBROADCASTD four<>+24(SB), Z10
	VPBROADCASTD four<>+28(SB), Z15
	CLASSIFY(Z13, Z14, R8)
	EQUAL(Z9, R9)
	EQUAL(Z4, R10)
	ORQ R10, R9
	VPSUBB Z10, Z5, Z9
	VPCMPUB $1, Z15, Z9, K4
	KMOVQ K4, BX
	ORQ R12, R8
	MOVQ R8, (R11)
	MOVQ R9, 8(R11)
	MOVQ BX, 16(R11)
	XORL AX, AX
	JMP marks

block:
	LOAD
	VPSRLW $4, Z5, Z8
	VPANDQ Z2, Z8, Z8
	EQUAL(Z4, R10)

marks:
	CLASSIFY(Z0, Z1, R8)
	EQUAL(Z3, R9)
	EQUAL(Z11, R11)
	ORQ  R8, R9          // a '.' after one of these is special
	LEAQ (AX)(R9*2), BX
	MOVQ R9, AX
	SHRQ $63, AX
	ANDQ R10, BX
	ORQ  BX, R8
	ORQ  R12, R8
	ORQ  R12, R11
	MOVQ R8, (DI)
	MOVQ R11, 8(DI)
	EQUAL(Z12, R11)
	ORQ  R12, R11
	MOVQ R11, 16(DI)
	ADDQ $24, DI
	ADDQ $64, SI
	SUBQ $64, CX
	JG   block
	MOVQ R13, (DI)       // if the text fills the last word
	MOVQ R13, 8(DI)
	MOVQ R13, 16(DI)
	VZEROUPPER
	RET
