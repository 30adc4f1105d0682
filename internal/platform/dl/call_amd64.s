//go:build (ofi || pmix) && linux

#include "textflag.h"

// func trampoline()
// In DI a Frame: function at 0, arguments from 8, result at 80. C keeps BX, and wants the stack aligned to 16 bytes,
// which it is after the push.
TEXT ·trampoline(SB), NOSPLIT|NOFRAME, $0-0
	PUSHQ BX
	MOVQ  DI, BX
	SUBQ  $32, SP
	MOVQ  56(BX), AX
	MOVQ  AX, 0(SP)
	MOVQ  64(BX), AX
	MOVQ  AX, 8(SP)
	MOVQ  72(BX), AX
	MOVQ  AX, 16(SP)
	MOVQ  8(BX), DI
	MOVQ  16(BX), SI
	MOVQ  24(BX), DX
	MOVQ  32(BX), CX
	MOVQ  40(BX), R8
	MOVQ  48(BX), R9
	MOVQ  0(BX), R11
	XORL  AX, AX
	CALL  R11
	MOVQ  AX, 80(BX)
	ADDQ  $32, SP
	POPQ  BX
	RET

// func trampolineOf() unsafe.Pointer
TEXT ·trampolineOf(SB), NOSPLIT, $0-8
	LEAQ ·trampoline(SB), AX
	MOVQ AX, ret+0(FP)
	RET
