package main

import (
	"bytes"
	"fmt"
)

const neonBytes = 16

// neonWords are instructions of three registers (Vd, Vn, Vm) that Go's assembler does not know.
var neonWords = map[string]struct {
	mnemonic, lanes string
	word            uint32
}{
	"sumFloat32":  {"FADD", "S4", 0x4E20D400},
	"sumFloat64":  {"FADD", "D2", 0x4E60D400},
	"prodFloat32": {"FMUL", "S4", 0x6E20DC00},
	"prodFloat64": {"FMUL", "D2", 0x6E60DC00},
	"minFloat32":  {"FMIN", "S4", 0x4EA0F400},
	"minFloat64":  {"FMIN", "D2", 0x4EE0F400},
	"maxFloat32":  {"FMAX", "S4", 0x4E20F400},
	"maxFloat64":  {"FMAX", "D2", 0x4E60F400},
	"prodInt32":   {"MUL", "S4", 0x4EA09C00},
	"minInt32":    {"SMIN", "S4", 0x4EA06C00},
	"maxInt32":    {"SMAX", "S4", 0x4EA06400},
	"greater":     {"CMGT", "D2", 0x4EE03400},
}

type neon struct{ bytes.Buffer }

func arm64(e element) []byte {
	var w neon
	fmt.Fprintf(&w, "%s\n//go:build !purego\n\n#include \"textflag.h\"\n", header)
	for _, op := range operations {
		if everywhere(op, e) {
			w.kernel(op, e)
		}
	}
	return w.Bytes()
}

func (w *neon) line(format string, args ...any) { fmt.Fprintf(w, "\t"+format+"\n", args...) }

// word writes an instruction Go's assembler does not know: Vd = Vn op Vm.
func (w *neon) word(name string, d, n, m int) {
	i := neonWords[name]
	word := i.word | uint32(m)<<16 | uint32(n)<<5 | uint32(d)
	w.line("WORD $0x%08X // %s V%d.%s, V%d.%[4]s, V%[6]d.%[4]s", word, i.mnemonic, d, i.lanes, n, m)
}

// combine writes Va = Va op Vb; Vt may be used in between.
func (w *neon) combine(op string, e element, a, b, t int) {
	switch name := op + e.name; name {
	case "sumInt32":
		w.line("VADD V%d.S4, V%d.S4, V%[2]d.S4", b, a)
	case "sumInt64":
		w.line("VADD V%d.D2, V%d.D2, V%[2]d.D2", b, a)
	case "minInt64", "maxInt64":
		w.word("greater", t, a, b) // t: a > b
		if op == "min" {
			w.line("VBSL V%d.B16, V%d.B16, V%d.B16", a, b, t)
		} else {
			w.line("VBSL V%d.B16, V%d.B16, V%d.B16", b, a, t)
		}
		w.line("VMOV V%d.B16, V%d.B16", t, a)
	default:
		w.word(name, a, a, b)
	}
}

// kernel is the loop of the one for amd64.
func (w *neon) kernel(op string, e element) {
	const dst, a, b, n, end, last = "R0", "R1", "R2", "R3", "R4", 16
	fmt.Fprintf(w, "\n// func %s(dst, a, b *byte, n int)\n", op+e.name)
	fmt.Fprintf(w, "TEXT ·%s(SB), NOSPLIT, $0-32\n", op+e.name)
	for i, p := range []string{"dst", "a", "b", "n"} {
		w.line("MOVD %s+%d(FP), R%d", p, 8*i, i)
	}
	w.line("LSL $%d, %s, %s", e.log, n, n)
	w.line("SUB $%d, %s, %s", neonBytes, n, end)
	w.line("ADD %s, %s, R5", a, end)
	w.line("ADD %s, %s, R6", b, end)
	w.line("ADD %s, %s, %s", dst, end, end)
	w.line("VLD1 (R5), [V%d.B16]", last)
	w.line("VLD1 (R6), [V%d.B16]", last+1)
	w.combine(op, e, last, last+1, last+2)
	w.loop(op, e, unroll, "[V0.B16, V1.B16, V2.B16, V3.B16]", "[V4.B16, V5.B16, V6.B16, V7.B16]")
	w.loop(op, e, 1, "[V0.B16]", "[V1.B16]")
	w.line("VST1 [V%d.B16], (%s)", last, end)
	w.line("RET")
}

func (w *neon) loop(op string, e element, vectors int, as, bs string) {
	bytes := vectors * neonBytes
	w.line("CMP $%d, R3", bytes)
	w.line("BLT done%d", vectors)
	fmt.Fprintf(w, "\nloop%d:\n", vectors)
	w.line("VLD1.P %d(R1), %s", bytes, as)
	w.line("VLD1.P %d(R2), %s", bytes, bs)
	for i := range vectors {
		w.combine(op, e, i, vectors+i, 2*vectors+i)
	}
	w.line("VST1.P %s, %d(R0)", as, bytes)
	w.line("SUB $%d, R3, R3", bytes)
	w.line("CMP $%d, R3", bytes)
	w.line("BGE loop%d", vectors)
	fmt.Fprintf(w, "\ndone%d:\n", vectors)
}
