//go:build !purego

#include "textflag.h"

// STEP multiplies the halves of the four lanes of acc by the factors in Z8, and adds both and 64 bytes of the next block.
#define STEP(acc, tmp, offset) \
	VPCLMULQDQ $0x11, Z8, acc, tmp         \
	VPCLMULQDQ $0x00, Z8, acc, acc         \
	VPTERNLOGQ $0x96, offset(SI), tmp, acc

// func fold(acc *[block]byte, state uint32, p *byte, n int, factors *[2]uint64)
TEXT ·fold(SB), NOSPLIT, $0-40
	MOVQ acc+0(FP), DI
	MOVL state+8(FP), DX
	MOVQ p+16(FP), SI
	MOVQ n+24(FP), CX
	MOVQ factors+32(FP), AX
	VBROADCASTI32X4 (AX), Z8
	VMOVD DX, X4
	VPXORQ (SI), Z4, Z0
	VMOVDQU64 64(SI), Z1
	VMOVDQU64 128(SI), Z2
	VMOVDQU64 192(SI), Z3
	JMP  next

loop:
	STEP(Z0, Z4, 0)
	STEP(Z1, Z5, 64)
	STEP(Z2, Z6, 128)
	STEP(Z3, Z7, 192)

next:
	ADDQ $256, SI
	DECQ CX
	JNZ  loop
	VMOVDQU64 Z0, (DI)
	VMOVDQU64 Z1, 64(DI)
	VMOVDQU64 Z2, 128(DI)
	VMOVDQU64 Z3, 192(DI)
	VZEROUPPER
	RET
