//go:build !race

#include "textflag.h"

// func moveString(dst, src unsafe.Pointer, n int)
// The direction flag is clear wherever Go code runs.
TEXT ·moveString(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	REP; MOVSB
	RET
