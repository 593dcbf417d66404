// This file has the constants that several AVX-512 functions read.

// SAME defines 64 times the same byte.
#define SAME(NAME, EIGHT) \
	DATA NAME<>+0(SB)/8, EIGHT \
	DATA NAME<>+8(SB)/8, EIGHT \
	DATA NAME<>+16(SB)/8, EIGHT \
	DATA NAME<>+24(SB)/8, EIGHT \
	DATA NAME<>+32(SB)/8, EIGHT \
	DATA NAME<>+40(SB)/8, EIGHT \
	DATA NAME<>+48(SB)/8, EIGHT \
	DATA NAME<>+56(SB)/8, EIGHT \
	GLOBL NAME<>(SB), RODATA|NOPTR, $64

SAME(low, $0x0f0f0f0f0f0f0f0f)
SAME(slashes, $0x2f2f2f2f2f2f2f2f)
SAME(dots, $0x2e2e2e2e2e2e2e2e)
