#include "textflag.h"
#include "same_amd64.h"

// STOPS sets the bits of R8 of the bytes of Z5 at which a path ends. AX is 1 if the
// byte before them is a '/', and then the same for the next bytes.
#define STOPS \
	VPSRLW $4, Z5, Z8 \
	VPANDQ low<>(SB), Z8, Z8 \
	VPSHUFB Z5, Z0, Z6 \
	VPSHUFB Z8, Z1, Z7 \
	VPTESTNMB Z6, Z7, K2 \
	VPCMPEQB slashes<>(SB), Z5, K3 \
	VPCMPEQB dots<>(SB), Z5, K4 \
	KMOVQ K2, R8 \
	KMOVQ K3, R10 \
	KMOVQ K4, R11 \
	LEAQ (AX)(R10*2), R12 \
	ORQ  R10, R11 \
	ANDQ R12, R11 \
	ORQ  R11, R8 \
	MOVQ R10, AX \
	SHRQ $63, AX

// func pathEndAVX512(text *byte, n int, nibbles *[32]uint8) int
//
//	SI text   CX n   DX where the 64 bytes in hand begin   Z0 and Z1 the two tables
TEXT ·pathEndAVX512(SB), NOSPLIT, $0-32
	MOVQ text+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ nibbles+16(FP), DX
	VBROADCASTI32X4 (DX), Z0
	VBROADCASTI32X4 16(DX), Z1
	XORL AX, AX
	XORL DX, DX
block:
	LEAQ 64(DX), R9
	CMPQ R9, CX
	JHI  last
	VMOVDQU64 (SI)(DX*1), Z5
	STOPS
	TESTQ R8, R8
	JNZ  found
	MOVQ R9, DX
	JMP  block
last: // bytes after the text are not read
	SUBQ DX, CX
	MOVQ $-1, R13
	SHLXQ CX, R13, R13
	NOTQ R13
	KMOVQ R13, K1
	VMOVDQU8.Z (SI)(DX*1), K1, Z5
	STOPS
	NOTQ R13
	ORQ  R13, R8
found:
	VZEROUPPER
	TZCNTQ R8, R8
	ADDQ DX, R8
	MOVQ R8, ret+24(FP)
	RET
