#include "textflag.h"
#include "block_amd64.h"

DATA lineFeeds<>+0(SB)/8, $0x0a0a0a0a0a0a0a0a
GLOBL lineFeeds<>(SB), RODATA|NOPTR, $8

// Registers of cutAVX2:
//
//	SI text   CX n   DX where the block in hand begins   DI cut
//	R8 all ones if the block begins inside of quotes   R9 1 if a cell can start with it
//	AX quotes   BX quotes, separators and line feeds   R10 line feeds   R11 bytes inside of quotes
//	R15 not 0 after a line feed inside of quotes
//
// func cutAVX2(text *byte, n int, quote, sep byte) (cut int, inside, starts, spans uint64, gaveUp bool)
TEXT ·cutAVX2(SB), NOSPLIT, $0-57
	MOVQ text+0(FP), SI
	MOVQ n+8(FP), CX
	VPBROADCASTB quote+16(FP), Y0
	VPBROADCASTB sep+17(FP), Y1
	VPBROADCASTQ lineFeeds<>(SB), Y2
	VPCMPEQB X3, X3, X3
	XORL DX, DX
	XORL DI, DI
	XORL R8, R8
	MOVL $1, R9
	XORL R15, R15
	MOVB $0, gaveUp+56(FP)
block:
	LOAD
	EQUAL(Y0, AX)
	EQUAL(Y1, BX)
	EQUAL(Y2, R10)
	ORQ R10, BX
	ORQ AX, BX
	VMOVQ AX, X9
	VPCLMULQDQ $0, X3, X9, X9 // by all ones: the sums of the bits up to each
	VMOVQ X9, R11
	XORQ R8, R11
	LEAQ (R9)(BX*2), R13
	NOTQ R13
	ANDQ AX, R13
	ANDQ R11, R13
	JNZ giveUp
	MOVQ BX, R9
	SHRQ $63, R9
	MOVQ R11, R8
	SARQ $63, R8
	MOVQ R10, R13
	ANDQ R11, R13
	ORQ R13, R15
	NOTQ R11
	ANDQ R10, R11
	BSRQ R11, R11 // sets the flags
	LEAQ 1(DX)(R11*1), R11
	CMOVQNE R11, DI
	ADDQ $64, DX
	ADDQ $64, SI
	DECQ CX
	JNZ block
done:
	VZEROUPPER
	MOVQ DI, cut+24(FP)
	MOVQ R8, inside+32(FP)
	MOVQ R9, starts+40(FP)
	MOVQ R15, spans+48(FP)
	RET
giveUp:
	MOVB $1, gaveUp+56(FP)
	JMP done
