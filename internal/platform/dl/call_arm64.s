//go:build (ofi || pmix) && linux

#include "textflag.h"

// func trampoline()
// In R0 a Frame: function at 0, arguments from 8, result at 80. C keeps R19; the ninth argument is on the stack.
TEXT ·trampoline(SB), NOSPLIT|NOFRAME, $0-0
	SUB  $32, RSP
	STP  (R19, R30), 16(RSP)
	MOVD R0, R19
	MOVD 72(R19), R9
	MOVD R9, 0(RSP)
	MOVD 8(R19), R0
	MOVD 16(R19), R1
	MOVD 24(R19), R2
	MOVD 32(R19), R3
	MOVD 40(R19), R4
	MOVD 48(R19), R5
	MOVD 56(R19), R6
	MOVD 64(R19), R7
	MOVD 0(R19), R9
	BL   (R9)
	MOVD R0, 80(R19)
	LDP  16(RSP), (R19, R30)
	ADD  $32, RSP
	RET

// func trampolineOf() unsafe.Pointer
TEXT ·trampolineOf(SB), NOSPLIT, $0-8
	MOVD $·trampoline(SB), R0
	MOVD R0, ret+0(FP)
	RET
