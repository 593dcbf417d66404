// LOAD reads the 64 bytes at SI to Y5 and Y6.
#define LOAD \
	VMOVDQU (SI), Y5 \
	VMOVDQU 32(SI), Y6

// EQUAL sets the bits of R of the bytes of Y5 and Y6 that are equal to those of V.
#define EQUAL(V, R) \
	VPCMPEQB V, Y5, Y7 \
	VPCMPEQB V, Y6, Y8 \
	BITS(Y7, Y8, R)

// BITS sets R to the top bits of the bytes of LOW and HIGH.
#define BITS(LOW, HIGH, R) \
	VPMOVMSKB LOW, R \
	VPMOVMSKB HIGH, R12 \
	SHLQ $32, R12 \
	ORQ R12, R
