//go:build !race

#include "textflag.h"

// amd64 orders stores among themselves, so MOV is a release store.

// func StoreRel32(p *atomic.Uint32, v uint32)
TEXT ·StoreRel32(SB), NOSPLIT, $0-12
	MOVQ p+0(FP), AX
	MOVL v+8(FP), CX
	MOVL CX, (AX)
	RET

// func StoreRel64(p *atomic.Uint64, v uint64)
TEXT ·StoreRel64(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ v+8(FP), CX
	MOVQ CX, (AX)
	RET
