package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
	"github.com/mmcloughlin/avo/reg"
)

// unroll is how many vectors the main loop takes at once.
const unroll = 4

const avxBytes = 32

type avx2 struct{ *build.Context }

func amd64(e element) ([]byte, error) {
	ctx := build.NewContext()
	ctx.ConstraintExpr("!purego")
	for _, op := range operations {
		avx2{ctx}.kernel(op, e)
	}
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

// kernel writes dst[i] = a[i] op b[i] for n elements, n at least a register full. The last register full is combined
// first, from the old elements, and stored last. It overlaps the elements of the loops, also if dst is a or b.
func (v avx2) kernel(op string, e element) {
	v.Function(op + e.name)
	v.Attributes(attr.NOSPLIT)
	v.SignatureExpr("func(dst, a, b *byte, n int)")
	dst, a, b := v.Load(v.Param("dst"), v.GP64()), v.Load(v.Param("a"), v.GP64()), v.Load(v.Param("b"), v.GP64())
	n := v.Load(v.Param("n"), v.GP64())
	at := func(r reg.Register, i int) operand.Mem { return operand.Mem{Base: r, Disp: i * avxBytes} }
	tail := func(r reg.Register) operand.Mem { return operand.Mem{Base: r, Index: n, Scale: 1, Disp: -avxBytes} }

	v.SHLQ(operand.U8(e.log), n)
	end := v.GP64()
	v.LEAQ(tail(dst), end)
	last := v.combine(op, e, tail(a), tail(b))

	for _, step := range []int{unroll, 1} {
		loop, done := fmt.Sprintf("loop%d", step), fmt.Sprintf("done%d", step)
		bytes := operand.U32(uint32(step * avxBytes))
		v.CMPQ(n, bytes)
		v.JLT(operand.LabelRef(done))
		v.Label(loop)
		var out []reg.VecVirtual
		for i := range step {
			out = append(out, v.combine(op, e, at(a, i), at(b, i)))
		}
		for i, r := range out {
			v.move(e, r, at(dst, i))
		}
		for _, r := range []reg.Register{a, b, dst} {
			v.ADDQ(bytes, r)
		}
		v.SUBQ(bytes, n)
		v.CMPQ(n, bytes)
		v.JGE(operand.LabelRef(loop))
		v.Label(done)
	}
	v.move(e, last, operand.Mem{Base: end})
	v.VZEROUPPER()
	v.RET()
}

func (v avx2) load(e element, m operand.Mem) reg.VecVirtual {
	r := v.YMM()
	v.move(e, m, r)
	return r
}

func (v avx2) move(e element, from, to operand.Op) {
	switch {
	case e.float && e.size() == 4:
		v.VMOVUPS(from, to)
	case e.float:
		v.VMOVUPD(from, to)
	default:
		v.VMOVDQU(from, to)
	}
}

// combine returns a register with x op y.
func (v avx2) combine(op string, e element, x, y operand.Mem) reg.VecVirtual {
	a := v.load(e, x)
	if f := v.single(op, e); f != nil {
		f(y, a, a)
		return a
	}
	b := v.load(e, y)
	switch {
	case e.float:
		return v.extreme(op, e, a, b)
	case op == "prod":
		return v.product64(a, b)
	default:
		return v.extreme64(op, a, b)
	}
}

// single returns the instruction that does it alone, nil if there is none.
func (v avx2) single(op string, e element) func(...operand.Op) {
	switch op + e.name {
	case "sumFloat32":
		return v.VADDPS
	case "sumFloat64":
		return v.VADDPD
	case "prodFloat32":
		return v.VMULPS
	case "prodFloat64":
		return v.VMULPD
	case "sumInt32":
		return v.VPADDD
	case "sumInt64":
		return v.VPADDQ
	case "prodInt32":
		return v.VPMULLD
	case "minInt32":
		return v.VPMINSD
	case "maxInt32":
		return v.VPMAXSD
	}
	return nil
}

// extreme is the smaller or larger of floating-point numbers by Go's rules. The instruction returns its second
// source if one is not a number, or if both are zero. So it is taken both ways round: the minimum has the bits of
// both results set, which keeps the sign of a zero and makes a NaN of a NaN. The maximum has the bits that both
// have, and is made a NaN afterwards.
func (v avx2) extreme(op string, e element, a, b reg.VecVirtual) reg.VecVirtual {
	type instruction = func(...operand.Op)
	smaller, larger, or, and := instruction(v.VMINPD), instruction(v.VMAXPD), instruction(v.VORPD), instruction(v.VANDPD)
	compare := instruction(v.VCMPPD)
	if e.size() == 4 {
		smaller, larger, or, and = v.VMINPS, v.VMAXPS, v.VORPS, v.VANDPS
		compare = v.VCMPPS
	}
	const unordered = operand.U8(3)
	r := v.YMM()
	if op == "min" {
		smaller(a, b, r)
		smaller(b, a, a)
		or(a, r, r)
		return r
	}
	larger(a, b, r)
	not := v.YMM()
	compare(unordered, a, b, not)
	larger(b, a, a)
	and(a, r, r)
	or(not, r, r)
	return r
}

// extreme64 is the smaller or larger of 64-bit integers where no instruction does it.
func (v avx2) extreme64(op string, a, b reg.VecVirtual) reg.VecVirtual {
	above := v.YMM()
	v.VPCMPGTQ(b, a, above) // a > b
	if op == "min" {
		v.VPBLENDVB(above, b, a, a)
	} else {
		v.VPBLENDVB(above, a, b, a)
	}
	return a
}

// product64 multiplies 64-bit integers where no instruction does it, by halves: al*bl + (ah*bl + al*bh) << 32.
func (v avx2) product64(a, b reg.VecVirtual) reg.VecVirtual {
	x, y := v.YMM(), v.YMM()
	v.VPSRLQ(operand.U8(32), a, x)
	v.VPMULUDQ(b, x, x)
	v.VPSRLQ(operand.U8(32), b, y)
	v.VPMULUDQ(a, y, y)
	v.VPADDQ(x, y, x)
	v.VPSLLQ(operand.U8(32), x, x)
	v.VPMULUDQ(a, b, a)
	v.VPADDQ(x, a, a)
	return a
}
