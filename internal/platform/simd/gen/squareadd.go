package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
	"github.com/mmcloughlin/avo/reg"
)

// squareAddRegisters hold all 64 numbers of the kernel: every vector register of AVX2.
const squareAddRegisters = 16

// squareAdd writes a[i] = a[i]*a[i] + a[i] for 64 numbers, n times, n at least 1. The numbers stay in registers.
func squareAdd() ([]byte, error) {
	ctx := build.NewContext()
	ctx.ConstraintExpr("!purego")
	ctx.Function("squareAdd64")
	ctx.Attributes(attr.NOSPLIT)
	ctx.SignatureExpr("func(a *[64]float64, n int)")
	a, n := ctx.Load(ctx.Param("a"), ctx.GP64()), ctx.Load(ctx.Param("n"), ctx.GP64())
	at := func(i int) operand.Mem { return operand.Mem{Base: a, Disp: i * avxBytes} }
	var all [squareAddRegisters]reg.VecVirtual
	for i := range all {
		all[i] = ctx.YMM()
		ctx.VMOVUPD(at(i), all[i])
	}
	ctx.Label("loop")
	for _, r := range all {
		ctx.VFMADD213PD(r, r, r)
	}
	ctx.DECQ(n)
	ctx.JNZ(operand.LabelRef("loop"))
	for i, r := range all {
		ctx.VMOVUPD(r, at(i))
	}
	ctx.VZEROUPPER()
	ctx.RET()
	file, err := ctx.Result()
	if err != nil {
		return nil, err
	}
	if err := pass.Compile.Execute(file); err != nil {
		return nil, err
	}
	file.Includes = []string{"textflag.h"}
	return printer.NewGoAsm(printer.Config{Name: generator, Pkg: "simd"}).Print(file)
}
