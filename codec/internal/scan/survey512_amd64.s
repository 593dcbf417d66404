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

// LOAD loads the next 64 bytes, or those that are left, and copies them. R12 gets a
// bit for each place after the text.
#define LOAD \
	CMPQ CX, R14 \
	MOVQ R14, BX \
	CMOVQLT CX, BX \
	MOVQ $-1, R12 \
	BZHIQ BX, R12, R12 \
	KMOVQ R12, K1 \
	NOTQ R12 \
	VMOVDQU8.Z (SI), K1, Z5 \
	VMOVDQU64 Z5, (SI)(R13*1) \
	VPSRLW $4, Z5, Z8 \
	VPANDQ Z2, Z8, Z8 \
	EQUAL(Z4, R10)

// SPECIAL sets the bits of R8 of the special bytes; R10 has those of '.'.
#define SPECIAL \
	CLASSIFY(Z0, Z1, R8) \
	EQUAL(Z3, R9) \
	LEAQ (DX)(R9*2), R11 \ // the places after a '/'
	MOVQ R9, DX \
	SHRQ $63, DX \
	ANDQ R9, R11 \
	ORQ  R8, R9 \
	LEAQ (AX)(R9*2), BX \ // and those after a byte that is not plain
	MOVQ R9, AX \
	SHRQ $63, AX \
	ANDQ R10, BX \
	ORQ  BX, R8 \
	ORQ  R11, R8

// STORE writes a word, and goes to the next block.
#define STORE \
	EQUAL(Z11, R9) \
	EQUAL(Z12, R10) \
	ORQ  R12, R8 \
	ORQ  R12, R9 \
	ORQ  R12, R10 \
	MOVQ R8, (DI) \
	MOVQ R9, 8(DI) \
	MOVQ R10, 16(DI) \
	ADDQ $24, DI \
	ADDQ $64, SI \
	SUBQ $64, CX

// FIRST stores the place of the first mark of a kind in the first two words.
#define FIRST(KIND) \
	TZCNTQ (KIND+24)(DI), R9 \
	ADDQ $64, R9 \
	TZCNTQ KIND(DI), R8 \
	CMOVQCS R9, R8 \
	MOVQ R8, KIND(R11)

// func surveyAVX512(text *byte, n, start int, nibbles *[64]uint8, words *Word, labels *Labels, firsts *firsts, to *byte)
//
//	SI text   CX bytes left   DI words   R13 from the text to its copy   R14 64
//	AX 1 if a '.' at the start is special   DX 1 if a '/' is
//	Z5 64 bytes; those after the text are 0
TEXT ·surveyAVX512(SB), NOSPLIT, $0-64
	MOVQ text+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ nibbles+24(FP), DX
	MOVQ words+32(FP), DI
	MOVQ to+56(FP), R13
	SUBQ SI, R13
	VBROADCASTI32X4 (DX), Z0
	VBROADCASTI32X4 16(DX), Z1
	VPBROADCASTD four<>+0(SB), Z2
	VPBROADCASTD four<>+4(SB), Z3
	VPBROADCASTD four<>+8(SB), Z4
	VPBROADCASTD four<>+12(SB), Z11
	VPBROADCASTD four<>+16(SB), Z12
	MOVQ $64, R14
	LOAD

	// The labels.
	MOVQ labels+40(FP), R11
	VBROADCASTI32X4 32(DX), Z13
	VBROADCASTI32X4 48(DX), Z14
	VPBROADCASTD four<>+20(SB), Z9
	VPBROADCASTD four<>+24(SB), Z10
	VPBROADCASTD four<>+28(SB), Z15
	CLASSIFY(Z13, Z14, R8)
	EQUAL(Z9, R9)
	ORQ R10, R9
	VPSUBB Z10, Z5, Z9
	VPCMPUB $1, Z15, Z9, K4
	KMOVQ K4, BX
	ORQ R12, R8
	MOVQ R8, (R11)
	MOVQ R9, 8(R11)
	MOVQ BX, 16(R11)

	XORL AX, AX
	XORL DX, DX
	SPECIAL
	MOVQ start+16(FP), R9
	MOVQ $-1, BX
	SHLXQ R9, BX, BX
	ANDQ BX, R8
	STORE
	JLE  done

block:
	LOAD
	SPECIAL
	STORE
	JG   block

done:
	MOVQ $-1, R8         // if the text fills the last word
	MOVQ R8, (DI)
	MOVQ R8, 8(DI)
	MOVQ R8, 16(DI)
	MOVQ to+56(FP), DX
	MOVQ n+8(FP), CX
	MOVL $0, (DX)(CX*1)
	MOVQ words+32(FP), DI
	MOVQ firsts+48(FP), R11
	FIRST(0)
	FIRST(8)
	FIRST(16)
	VZEROUPPER
	RET
