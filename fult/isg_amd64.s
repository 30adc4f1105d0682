#include "textflag.h"

// func isG(p *uintptr) bool
TEXT ·isG(SB), NOSPLIT, $0-9
	MOVQ p+0(FP), AX
	MOVQ (TLS), CX
	CMPQ CX, (AX)
	SETEQ ret+8(FP)
	RET

// func peek(p *uintptr) uintptr
TEXT ·peek(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ (AX), AX
	MOVQ AX, ret+8(FP)
	RET
