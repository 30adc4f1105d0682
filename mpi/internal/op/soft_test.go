package op

import (
	"bytes"
	"flag"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "ask gcc anew, and write testdata/soft.txt")

// bits128 is a number of any form, by its bits.
type bits128 struct{ hi, lo uint64 }

// format is a form of numbers of which the tests know another way to compute.
type format struct {
	name      string
	precision int
	exponents int // bits of the exponent
	explicit  bool
	plus      func(a, b bits128) bits128
	times     func(a, b bits128) bits128
}

func onExtended(f func(a, b extended) extended) func(a, b bits128) bits128 {
	return func(a, b bits128) bits128 {
		x := f(extended{a.lo, a.hi}, extended{b.lo, b.hi})
		return bits128{x.top, x.significand}
	}
}

func onQuad(f func(a, b quad) quad) func(a, b bits128) bits128 {
	return func(a, b bits128) bits128 {
		x := f(quad{a.lo, a.hi}, quad{b.lo, b.hi})
		return bits128{x.hi, x.lo}
	}
}

func onHalf(f func(a, b half) half) func(a, b bits128) bits128 {
	return func(a, b bits128) bits128 { return bits128{0, uint64(f(half(a.lo), half(b.lo)))} }
}

var formats = []format{
	{"extended", 64, 15, true, onExtended(extended.plusNumber), onExtended(extended.times)},
	{"quad", 113, 15, false, onQuad(quad.plusNumber), onQuad(quad.times)},
	{"half", 11, 5, false, onHalf(half.plusNumber), onHalf(half.times)},
}

// width is the bits of a significand that are there.
func (f *format) width() int {
	if f.explicit {
		return f.precision
	}
	return f.precision - 1
}

func (f *format) top() int  { return 1<<f.exponents - 1 }
func (f *format) bias() int { return 1<<(f.exponents-1) - 1 }

// split gives sign, exponent and significand.
func (f *format) split(b bits128) (neg bool, e int, s *big.Int) {
	all := new(big.Int).Lsh(new(big.Int).SetUint64(b.hi), 64)
	all.Or(all, new(big.Int).SetUint64(b.lo))
	w := uint(f.width())
	s = new(big.Int).And(all, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), w), big.NewInt(1)))
	rest := int(new(big.Int).Rsh(all, w).Int64())
	return rest>>f.exponents&1 != 0, rest & f.top(), s
}

func (f *format) join(neg bool, e int, s *big.Int) bits128 {
	rest := int64(e)
	if neg {
		rest |= 1 << f.exponents
	}
	all := new(big.Int).Lsh(big.NewInt(rest), uint(f.width()))
	all.Or(all, s)
	lo := new(big.Int).And(all, new(big.Int).SetUint64(1<<64-1))
	return bits128{new(big.Int).Rsh(all, 64).Uint64(), lo.Uint64()}
}

// exact is the value, if it is a number: finite, or infinite.
func (f *format) exact(b bits128) (*big.Float, bool) {
	neg, e, s := f.split(b)
	first := s.Bit(f.precision-1) != 0
	x := new(big.Float).SetPrec(600)
	switch {
	case e == f.top():
		fraction := new(big.Int).SetBit(s, f.precision-1, 0)
		x.SetInf(neg)
		return x, fraction.Sign() == 0 && (first || !f.explicit)
	case e != 0 && f.explicit && !first:
		return nil, false
	case e != 0 && !f.explicit:
		s = new(big.Int).SetBit(s, f.precision-1, 1)
	}
	x.SetInt(s)
	x.SetMantExp(x, max(e, 1)-f.bias()-(f.precision-1))
	if neg {
		x.Neg(x)
	}
	return x, true
}

// round gives the bits of the number next to x.
func (f *format) round(x *big.Float) bits128 {
	neg, none := x.Signbit(), new(big.Int)
	infinite := f.join(neg, f.top(), none)
	if f.explicit {
		infinite.lo = 1 << 63
	}
	switch {
	case x.IsInf():
		return infinite
	case x.Sign() == 0:
		return f.join(neg, 0, none)
	}
	least := 1 - f.bias()
	e := x.MantExp(nil) - 1
	units := new(big.Float).SetMantExp(new(big.Float).Abs(x), f.precision-1-max(e, least)) // of the last place
	s, _ := units.Int(nil)
	rest := new(big.Float).SetPrec(600).Sub(units, new(big.Float).SetPrec(600).SetInt(s))
	if c := rest.Cmp(big.NewFloat(0.5)); c > 0 || c == 0 && s.Bit(0) != 0 {
		s.Add(s, big.NewInt(1))
	}
	e = max(e, least) + f.bias()
	switch {
	case s.BitLen() > f.precision:
		s.Rsh(s, 1)
		e++
	case s.BitLen() < f.precision:
		e = 0
	}
	if e >= f.top() {
		return infinite
	}
	if !f.explicit {
		s.SetBit(s, f.precision-1, 0)
	}
	return f.join(neg, e, s)
}

// isNaN reports that b is no number.
func (f *format) isNaN(b bits128) bool {
	_, ok := f.exact(b)
	return !ok
}

// check compares a sum or product with exact arithmetic; infinities are left to the processor's rules.
func (f *format) check(a, b, sum, product bits128) error {
	x, isX := f.exact(a)
	y, isY := f.exact(b)
	if !isX || !isY {
		if !f.isNaN(sum) || !f.isNaN(product) {
			return fmt.Errorf("%s: %x and %x: %x, %x are numbers", f.name, a, b, sum, product)
		}
		return nil
	}
	s, p := new(big.Float).SetPrec(40000), new(big.Float).SetPrec(600)
	if x.IsInf() && y.IsInf() && x.Signbit() != y.Signbit() {
		if !f.isNaN(sum) {
			return fmt.Errorf("%s: %x + %x is %x", f.name, a, b, sum)
		}
	} else if want := f.round(s.Add(x, y)); want != sum {
		return fmt.Errorf("%s: %x + %x is %x, want %x", f.name, a, b, sum, want)
	}
	if x.IsInf() && y.Sign() == 0 || x.Sign() == 0 && y.IsInf() {
		if !f.isNaN(product) {
			return fmt.Errorf("%s: %x * %x is %x", f.name, a, b, product)
		}
	} else if want := f.round(p.Mul(x, y)); want != product {
		return fmt.Errorf("%s: %x * %x is %x, want %x", f.name, a, b, product, want)
	}
	return nil
}

// random gives numbers of all kinds: near one another, denormal, with few bits set, and special ones.
func (f *format) random(rnd *rand.Rand) (a, b bits128) {
	one := func(e int) bits128 {
		s := new(big.Int)
		for i := range f.precision {
			s.SetBit(s, i, uint(rnd.IntN(2)))
		}
		switch rnd.IntN(6) {
		case 0:
			s.SetInt64(int64(rnd.IntN(2)))
		case 1:
			s.Sub(new(big.Int).Lsh(big.NewInt(1), uint(f.precision)), big.NewInt(int64(1+rnd.IntN(3))))
		case 2:
			s.SetInt64(0).SetBit(s, rnd.IntN(f.precision), 1)
		}
		s.SetBit(s, f.precision-1, 1)
		if !f.explicit || e == 0 || rnd.IntN(50) == 0 {
			s.SetBit(s, f.precision-1, 0)
		}
		return f.join(rnd.IntN(2) == 0, e, s)
	}
	e := []int{rnd.IntN(f.top() + 1), rnd.IntN(f.precision), f.top() - rnd.IntN(3), f.bias() + rnd.IntN(5)}[rnd.IntN(4)]
	d := e + rnd.IntN(2*f.precision+8) - f.precision - 4
	switch rnd.IntN(4) {
	case 0: // the product is near the least numbers, or the greatest ones
		d = f.bias() - e + rnd.IntN(f.precision+4)*rnd.IntN(2)*-1
	case 1:
		d = f.top() + f.bias() - e - 2 + rnd.IntN(4)
	}
	return one(min(max(e, 0), f.top())), one(min(max(d, 0), f.top()))
}

// special are zeros, the least and the greatest numbers, one, infinities and what is no number.
func (f *format) special() (all []bits128) {
	one, none := big.NewInt(1), new(big.Int)
	most := new(big.Int).Sub(new(big.Int).Lsh(one, uint(f.width())), one)
	first := new(big.Int)
	if f.explicit {
		first.SetBit(first, f.precision-1, 1)
	}
	half := new(big.Int).Rsh(most, 1)
	for _, neg := range []bool{false, true} {
		all = append(all, f.join(neg, 0, none), f.join(neg, 0, one), f.join(neg, 0, half), f.join(neg, 1, first),
			f.join(neg, f.bias(), first), f.join(neg, f.bias(), new(big.Int).Or(first, one)), f.join(neg, f.top()-1, most),
			f.join(neg, f.top(), first), f.join(neg, f.top(), most))
	}
	return all
}

// TestSpecial is TestSoft for all pairs of special numbers.
func TestSpecial(t *testing.T) {
	for i := range formats {
		f := &formats[i]
		for _, a := range f.special() {
			for _, b := range f.special() {
				if err := f.check(a, b, f.plus(a, b), f.times(a, b)); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// pairsTried is how many pairs of random numbers a test takes.
func pairsTried() int {
	if testing.Short() {
		return 3000
	}
	return 20000
}

// TestSoft compares sums and products with exact arithmetic that is rounded afterwards.
func TestSoft(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for i := range formats {
		f := &formats[i]
		rnd := rand.New(rand.NewPCG(seed, uint64(i)))
		for range pairsTried() {
			a, b := f.random(rnd)
			if err := f.check(a, b, f.plus(a, b), f.times(a, b)); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
}

// FuzzSoft is TestSoft with bits of the fuzzer's choice.
func FuzzSoft(f *testing.F) {
	f.Add(uint8(0), uint64(0x3fff), uint64(1)<<63, uint64(0xbfff), uint64(1)<<63)
	f.Add(uint8(1), uint64(0x3fff)<<48, uint64(0), uint64(1), uint64(1))
	f.Add(uint8(2), uint64(0), uint64(0x3c00), uint64(0), uint64(0x8001))
	f.Fuzz(func(t *testing.T, which uint8, ahi, alo, bhi, blo uint64) {
		x := &formats[int(which)%len(formats)]
		a, b := bits128{ahi, alo}, bits128{bhi, blo}
		if keep := 1 + x.exponents + x.width(); keep < 128 {
			mask := uint64(1)<<(keep%64) - 1
			if keep < 64 {
				a, b = bits128{0, alo & mask}, bits128{0, blo & mask}
			} else {
				a.hi, b.hi = ahi&mask, bhi&mask
			}
		}
		if err := x.check(a, b, x.plus(a, b), x.times(a, b)); err != nil {
			t.Fatal(err)
		}
	})
}

// TestProduct: the upper half of a product is exact, and its last bit tells whether there is more.
func TestProduct(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	word := func() uint64 {
		return []uint64{0, 1, 1<<64 - 1, 1 << 63, rnd.Uint64(), rnd.Uint64(), rnd.Uint64()}[rnd.IntN(7)]
	}
	wide := func(hi, lo uint64) *big.Int {
		x := new(big.Int).Lsh(new(big.Int).SetUint64(hi), 64)
		return x.Or(x, new(big.Int).SetUint64(lo))
	}
	for range pairsTried() {
		a, b := number{hi: word(), lo: word()}, number{hi: word(), lo: word()}
		whole := new(big.Int).Mul(wide(a.hi, a.lo), wide(b.hi, b.lo))
		want := new(big.Int).Rsh(whole, 128)
		if new(big.Int).Lsh(want, 128).Cmp(whole) != 0 {
			want.SetBit(want, 0, 1)
		}
		if got := wide(product(a, b)); got.Cmp(want) != 0 {
			t.Fatalf("seed %d: %x * %x is %x, want %x", seed, wide(a.hi, a.lo), wide(b.hi, b.lo), got, want)
		}
	}
}

// line is what testdata/soft.c reads.
func (f *format) line(a, b bits128) string {
	return fmt.Sprintf("%s %x %x %x %x", f.name, a.hi, a.lo, b.hi, b.lo)
}

// judge compares with a line that testdata/soft.c has printed. Bits of what is no number may differ.
func judge(t *testing.T, line string) {
	t.Helper()
	var name string
	var a, b, sum, product bits128
	if _, err := fmt.Sscanf(line, "%s %x %x %x %x %x %x %x %x", &name, &a.hi, &a.lo, &b.hi, &b.lo,
		&sum.hi, &sum.lo, &product.hi, &product.lo); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	for i := range formats {
		f := &formats[i]
		if f.name != name {
			continue
		}
		if got := f.plus(a, b); got != sum && (!f.isNaN(got) || !f.isNaN(sum)) {
			t.Errorf("%s: %x + %x is %x, C says %x", name, a, b, got, sum)
		}
		if got := f.times(a, b); got != product && (!f.isNaN(got) || !f.isNaN(product)) {
			t.Errorf("%s: %x * %x is %x, C says %x", name, a, b, got, product)
		}
		return
	}
	t.Fatalf("%q: no such form", line)
}

// askC has testdata/soft.c compute n pairs of each form.
func askC(t *testing.T, seed uint64, n int) []string {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil || runtime.GOARCH != "amd64" {
		t.Skipf("needs gcc on amd64, where a long double has 80 bits: %v", err)
	}
	program := filepath.Join(t.TempDir(), "soft")
	source := filepath.Join("testdata", "soft.c")
	if out, err := exec.Command(gcc, "-O1", "-o", program, source).CombinedOutput(); err != nil {
		t.Skipf("this gcc lacks a form of numbers: %v\n%s", err, out)
	}
	var in strings.Builder
	for i := range formats {
		rnd := rand.New(rand.NewPCG(seed, uint64(i)))
		for range n {
			a, b := formats[i].random(rnd)
			fmt.Fprintln(&in, formats[i].line(a, b))
		}
	}
	cmd := exec.Command(program)
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != n*len(formats) {
		t.Fatalf("C answers %d of %d lines", len(lines), n*len(formats))
	}
	return lines
}

// TestAgainstC compares sums and products with those that gcc's program computes now.
func TestAgainstC(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for _, line := range askC(t, seed, pairsTried()) {
		judge(t, line)
	}
}

// TestRecorded compares with what gcc's program has computed once, on any machine.
func TestRecorded(t *testing.T) {
	path := filepath.Join("testdata", "soft.txt")
	if *update {
		text := strings.Join(askC(t, 1, 300), "\n") + "\n"
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n < 900 {
		t.Errorf("there are only %d lines", n)
	}
	for line := range strings.Lines(string(text)) {
		judge(t, line)
	}
}
