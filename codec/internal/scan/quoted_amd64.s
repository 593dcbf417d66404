#include "textflag.h"

// Registers, in both functions:
//
//	SI text   CX n   DX where the 64 bytes in hand begin
//	Z0 quotes   Z1 separators   Z2 line feeds   X3 all ones
//	R8 all ones if the bytes in hand begin inside of quotes   R9 1 if a cell can begin there

#define BEGIN \
	MOVQ text+0(FP), SI       \
	MOVQ n+8(FP), CX          \
	VPBROADCASTB quote+16(FP), Z0 \
	VPBROADCASTB sep+17(FP), Z1 \
	MOVL $10, AX              \
	VPBROADCASTB AX, Z2       \
	VPCMPEQB X3, X3, X3       \
	XORL DX, DX               \
	XORL R8, R8               \
	MOVL $1, R9

// MARKS sets the bits of the bytes of Z5: AX quotes, BX separators, R11 line feeds.
#define MARKS \
	VPCMPEQB Z0, Z5, K1 \
	VPCMPEQB Z1, Z5, K2 \
	VPCMPEQB Z2, Z5, K3 \
	KMOVQ K1, AX        \
	KMOVQ K2, BX        \
	KMOVQ K3, R11

// LAST loads the bytes after DX, of which there are less than 64.
#define LAST \
	MOVQ CX, R12         \
	SUBQ DX, R12         \
	MOVQ $-1, R13        \
	BZHIQ R12, R13, R13  \
	KMOVQ R13, K1        \
	VMOVDQU8.Z (SI)(DX*1), K1, Z5

// INSIDE sets the bits of R12 of the bytes inside of quotes, and those of R13 of the
// quotes that neither open nor close a cell nor are doubled. BREAKS has the bits of AX
// and of what is between cells. The product with ones has the sums of the bits up to
// each bit.
#define INSIDE(BREAKS) \
	VMOVQ AX, X6               \
	VPCLMULQDQ $0, X3, X6, X6  \
	VMOVQ X6, R12              \
	XORQ R8, R12               \
	LEAQ (R9)(BREAKS*2), R13   \
	MOVQ BREAKS, R9            \
	SHRQ $63, R9               \
	NOTQ R13                   \
	ANDQ AX, R13               \
	ANDQ R12, R13              \
	MOVQ R12, R8               \
	SARQ $63, R8

// func cutQuotedAVX512(text *byte, n int, quote, sep byte) (cut int, gaveUp bool)
//
//	R10 cut
TEXT ·cutQuotedAVX512(SB), NOSPLIT, $0-33
	BEGIN
	XORL R10, R10
	MOVB $0, gaveUp+32(FP)
block:
	LEAQ 64(DX), R14
	CMPQ R14, CX
	JHI  last
	VMOVDQU64 (SI)(DX*1), Z5
marks:
	MARKS
	ORQ  R11, BX
	ORQ  AX, BX
	INSIDE(BX)
	TESTQ R13, R13
	JNZ  bad
	NOTQ R12
	ANDQ R11, R12
	BSRQ R12, R12
	LEAQ 1(DX)(R12*1), R12
	CMOVQNE R12, R10
	MOVQ R14, DX
	CMPQ DX, CX
	JCS  block
	VZEROUPPER
	MOVQ R10, cut+24(FP)
	RET
last:
	LAST
	JMP  marks
bad:
	VZEROUPPER
	MOVQ R10, cut+24(FP)
	MOVB $1, gaveUp+32(FP)
	RET

// func lineOfCellsAVX512(text *byte, n int, quote, sep byte, quotes, ends *uint64) (size int, all uint64)
//
//	DI and R15 where the next words are written   R10 all
TEXT ·lineOfCellsAVX512(SB), NOSPLIT, $0-56
	BEGIN
	MOVQ quotes+24(FP), DI
	MOVQ ends+32(FP), R15
	XORL R10, R10
block:
	LEAQ 64(DX), R14
	CMPQ R14, CX
	JHI  last
	VMOVDQU64 (SI)(DX*1), Z5
marks:
	MARKS
	TESTQ R11, R11
	JNZ  found
	MOVQ BX, R11
	ORQ  AX, R11
	INSIDE(R11)
	TESTQ R13, R13
	JNZ  none
	ANDNQ BX, R12, BX
	MOVQ AX, (DI)
	MOVQ BX, (R15)
	ORQ  AX, R10
	ADDQ $8, DI
	ADDQ $8, R15
	MOVQ R14, DX
	CMPQ DX, CX
	JCS  block
none:
	VZEROUPPER
	MOVQ $0, size+40(FP)
	MOVQ R10, all+48(FP)
	RET
last:
	LAST
	JMP  marks
found: // the bytes from the line feed on do not count
	LEAQ -1(R11), R13
	ANDNQ R13, R11, R13
	TZCNTQ R11, R11
	LEAQ 1(DX)(R11*1), R11
	ANDQ R13, AX
	ANDQ R13, BX
	MOVQ BX, DX
	ORQ  AX, DX
	INSIDE(DX)
	ORQ  R8, R13 // nor can the quotes be open
	JNZ  none
	ANDNQ BX, R12, BX
	MOVQ AX, (DI)
	MOVQ BX, (R15)
	ORQ  AX, R10
	VZEROUPPER
	MOVQ R11, size+40(FP)
	MOVQ R10, all+48(FP)
	RET
