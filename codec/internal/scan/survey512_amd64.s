#include "go_asm.h"
#include "textflag.h"
#include "same_amd64.h"

SAME(questions, $0x3f3f3f3f3f3f3f3f)
SAME(hashes, $0x2323232323232323)
SAME(hyphens, $0x2d2d2d2d2d2d2d2d)
SAME(letterA, $0x4141414141414141)
SAME(letters, $0x1a1a1a1a1a1a1a1a) // their number

// CLASSIFY sets the bits of R of the bytes of Z5 that are not in the set with the
// tables LOW and HIGH. Z8 has the high halves of the bytes.
#define CLASSIFY(LOW, HIGH, R) \
	VPSHUFB Z5, LOW, Z6 \
	VPSHUFB Z8, HIGH, Z7 \
	VPTESTNMB Z6, Z7, K2 \
	KMOVQ K2, R

// EQUAL sets the bits of R of the bytes of Z5 that are equal to those of NAME.
#define EQUAL(NAME, R) \
	VPCMPEQB NAME<>(SB), Z5, K3 \
	KMOVQ K3, R

// LOAD loads the next 64 bytes, or those that are left, and copies them. R12 gets a
// bit for each place after the text.
#define LOAD \
	MOVL $64, BX \
	CMPQ CX, BX \
	CMOVQLT CX, BX \
	MOVQ $-1, R12 \
	BZHIQ BX, R12, R12 \
	KMOVQ R12, K1 \
	NOTQ R12 \
	VMOVDQU8.Z (SI), K1, Z5 \
	VMOVDQU64 Z5, (SI)(R13*1) \
	VPSRLW $4, Z5, Z8 \
	VPANDQ low<>(SB), Z8, Z8 \
	EQUAL(dots, R10)

// SPECIAL sets the bits of R8 of the special bytes; R10 has those of '.'.
#define SPECIAL \
	CLASSIFY(Z0, Z1, R8) \
	EQUAL(slashes, R9) \
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
	EQUAL(questions, R9) \
	EQUAL(hashes, R10) \
	ORQ  R12, R8 \
	ORQ  R12, R9 \
	ORQ  R12, R10 \
	MOVQ R8, (R14) \
	MOVQ R9, (DI) \
	MOVQ R10, 8(DI) \
	ADDQ $8, R14 \
	ADDQ $16, DI \
	ADDQ $64, SI \
	SUBQ $64, CX

// FIRST stores the place of the first of 128 marks of a kind, the second half of which
// is NEXT.
#define FIRST(KIND, MARKS, NEXT) \
	TZCNTQ NEXT, R9 \
	ADDQ $64, R9 \
	TZCNTQ MARKS, R8 \
	CMOVQCS R9, R8 \
	MOVQ R8, (Survey_firsts+KIND)(R11)

// func surveyAVX512(s *Survey, text *byte, n, start int, c *Classes)
//
//	SI text   CX bytes left   R14 special   DI words   R13 from the text to its copy
//	AX 1 if a '.' at the start is special   DX 1 if a '/' is
//	Z5 64 bytes; those after the text are 0
TEXT ·surveyAVX512(SB), NOSPLIT, $0-40
	MOVQ text+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ c+32(FP), DX
	MOVQ s+0(FP), R11
	MOVQ Survey_Special(R11), R14
	MOVQ Survey_Words(R11), DI
	MOVQ Survey_Copy(R11), R13
	SUBQ SI, R13
	VBROADCASTI32X4 Classes_nibbles(DX), Z0
	VBROADCASTI32X4 (Classes_nibbles+16)(DX), Z1
	LOAD

	// The labels.
	VBROADCASTI32X4 (Classes_nibbles+32)(DX), Z13
	VBROADCASTI32X4 (Classes_nibbles+48)(DX), Z14
	CLASSIFY(Z13, Z14, R8)
	EQUAL(hyphens, R9)
	ORQ R10, R9
	VPSUBB letterA<>(SB), Z5, Z9
	VPCMPUB $1, letters<>(SB), Z9, K4
	KMOVQ K4, BX
	ORQ R12, R8
	MOVQ R8, Survey_Labels(R11)
	MOVQ R9, (Survey_Labels+8)(R11)
	MOVQ BX, (Survey_Labels+16)(R11)

	XORL AX, AX
	XORL DX, DX
	SPECIAL
	MOVQ start+24(FP), R9
	MOVQ $-1, BX
	SHLXQ R9, BX, BX
	ANDQ BX, R8
	STORE
	JLT  short
	JEQ  done

block:
	LOAD
	SPECIAL
	STORE
	JG   block

done:
	MOVQ $-1, R8         // if the text fills the last word
	MOVQ R8, (R14)
	MOVQ R8, (DI)
	MOVQ R8, 8(DI)
	MOVQ s+0(FP), R11
	MOVQ Survey_Copy(R11), DX
	MOVQ n+16(FP), CX
	MOVL $0, (DX)(CX*1)
	MOVQ Survey_Special(R11), R14
	MOVQ Survey_Words(R11), DI
	FIRST(0, 0(R14), 8(R14))
	FIRST(8, 0(DI), 16(DI))
	FIRST(16, 8(DI), 24(DI))
	VZEROUPPER
	RET

	// The text ends in the first word, which has a mark of each kind.
short:
	MOVQ $-1, BX
	MOVQ BX, (R14)
	MOVQ BX, (DI)
	MOVQ BX, 8(DI)
	MOVQ s+0(FP), R11
	TZCNTQ R8, R8
	TZCNTQ R9, R9
	TZCNTQ R10, R10
	MOVQ R8, (Survey_firsts+0)(R11)
	MOVQ R9, (Survey_firsts+8)(R11)
	MOVQ R10, (Survey_firsts+16)(R11)
	ADDQ R13, SI
	MOVL $0, (SI)(CX*1) // after the text in the copy
	VZEROUPPER
	RET
