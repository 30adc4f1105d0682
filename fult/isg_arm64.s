#include "textflag.h"

// func isG(p *uintptr) bool
TEXT ·isG(SB), NOSPLIT, $0-9
	MOVD p+0(FP), R0
	MOVD (R0), R1
	CMP  g, R1
	CSET EQ, R2
	MOVB R2, ret+8(FP)
	RET

// func peek(p *uintptr) uintptr
TEXT ·peek(SB), NOSPLIT, $0-16
	MOVD p+0(FP), R0
	MOVD (R0), R1
	MOVD R1, ret+8(FP)
	RET
