package dtype

import (
	"bytes"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/golci/golci/mpi/internal/errs"
)

// TestExternal has the bytes that the standard demands (14.5.2).
func TestExternal(t *testing.T) {
	for _, c := range []struct {
		recipe, memory, external string // hexadecimal
	}{
		{"contig 2 INT", "01000000 feffffff", "00000001 fffffffe"},
		{"contig 2 LONG", "0100000000000000 feffffffffffffff", "00000001 fffffffe"},
		{"LONG_LONG", "feffffffffffffff", "fffffffffffffffe"},
		{"UNSIGNED_LONG", "ffffffff00000000", "ffffffff"},
		{"SHORT", "0201", "0102"},
		{"contig 2 FLOAT", "0000803f 00000040", "3f800000 40000000"},
		{"DOUBLE", "000000000000f0bf", "bff0000000000000"},
		{"C_FLOAT_COMPLEX", "0000803f 00000040", "3f800000 40000000"},
		{"contig 2 C_BOOL", "01 00", "01 00"},
		{"WCHAR", "41000000", "0041"},
		{"LOGICAL2", "0100", "0001"},
		{"SHORT_INT", "0201 0000 04030201", "0102 01020304"},
		{"AINT", "feffffffffffffff", "fffffffffffffffe"},
		{"struct 2 1 4 BYTE 1 0 UINT16_T", "0201 0000 07 00", "07 0102"},
		{"LONG_DOUBLE", "0000000000000080ff3f 000000000000", "3fff 0000000000000000000000000000"},
		{
			"C_LONG_DOUBLE_COMPLEX", "0000000000000080ff3f 000000000000 00000000000000c000c0 000000000000",
			"3fff 0000000000000000000000000000 c0008000000000000000000000000000",
		},
	} {
		if !x87 && strings.Contains(c.recipe, "LONG_DOUBLE") {
			continue
		}
		typ, _ := mustRead(t, c.recipe)
		mem, want := unhex(t, c.memory), unhex(t, c.external)
		got := make([]byte, len(want)+1)
		n, err := PackExternal(got, typ, unsafe.Pointer(&mem[0]), 1)
		if err != nil || n != int64(len(want)) || !bytes.Equal(got[:n], want) {
			t.Errorf("%s: packed %x (%v), want %x", c.recipe, got[:n], err, want)
		}
		if size := ExternalSize(typ, 3); size != 3*int64(len(want)) {
			t.Errorf("%s: 3 elements have %d bytes, want %d", c.recipe, size, 3*len(want))
		}
		back := make([]byte, len(mem))
		if n, err := UnpackExternal(typ, unsafe.Pointer(&back[0]), 1, want); err != nil || n != int64(len(want)) {
			t.Errorf("%s: unpacked %d bytes, %v", c.recipe, n, err)
		}
		if !bytes.Equal(back, mem) {
			t.Errorf("%s: unpacked %x, want %x", c.recipe, back, mem)
		}
	}
	var mem [4]byte
	n, err := PackExternal(make([]byte, 3), Named(Int), unsafe.Pointer(&mem), 1)
	if n != 0 || errs.Of(err) != errs.Truncate {
		t.Errorf("an int in three bytes: %d, %v", n, err)
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestExternalReturns: all basics come back as they were, unless they lose their upper half.
func TestExternalReturns(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, b := range Basics() {
		f := b.fact()
		if f.kind == 0 || f.ext < f.size || f.kind >= extendedKind {
			continue
		}
		mem := make([]byte, 5*f.size)
		for i := range mem {
			mem[i] = byte(r.Uint32())
		}
		ext := make([]byte, ExternalSize(Named(b), 5))
		back := make([]byte, len(mem))
		_, err1 := PackExternal(ext, Named(b), unsafe.Pointer(&mem[0]), 5)
		_, err2 := UnpackExternal(Named(b), unsafe.Pointer(&back[0]), 5, ext)
		if err1 != nil || err2 != nil || !bytes.Equal(mem, back) {
			t.Errorf("%v: %x, then %x (%v, %v)", b, mem, back, err1, err2)
		}
		if f.size > 1 && f.partCount() == 1 {
			slices.Reverse(mem[:f.size])
			if !bytes.Equal(mem[:f.size], ext[:f.size]) {
				t.Errorf("%v: %x in external32", b, ext[:f.size])
			}
		}
	}
}

// TestQuadruples goes from 80-bit numbers to quadruples and back, and rounds.
func TestQuadruples(t *testing.T) {
	for _, c := range []struct {
		top            uint16
		mantissa       uint64
		high, low      uint64
		back           uint64 // the mantissa that comes back
		backTop        uint16
		whatItIsCalled string
	}{
		{0x3fff, 1 << 63, 0x3fff << 48, 0, 1 << 63, 0x3fff, "one"},
		{0, 0, 0, 0, 0, 0, "zero"},
		{0x8000, 0, 1 << 63, 0, 0, 0x8000, "minus zero"},
		{0x7fff, 1 << 63, 0x7fff << 48, 0, 1 << 63, 0x7fff, "infinity"},
		{0x7fff, 3 << 62, 0x7fff8 << 44, 0, 3 << 62, 0x7fff, "no number"},
		{0, 1, 0, 1 << 49, 1, 0, "the least"},
		{0, 1 << 63, 1 << 48, 0, 1 << 63, 1, "pseudo-denormal"},
		{0xbffe, 0xffffffffffffffff, 0xbffeffffffffffff, 0xfffe000000000000, 0xffffffffffffffff, 0xbffe, "all bits"},
	} {
		high, low := quadOf(c.top, c.mantissa)
		if high != c.high || low != c.low {
			t.Errorf("%s is %x %x, want %x %x", c.whatItIsCalled, high, low, c.high, c.low)
		}
		if top, mantissa := extendedOf(high, low); top != c.backTop || mantissa != c.back {
			t.Errorf("%s comes back as %x %x", c.whatItIsCalled, top, mantissa)
		}
	}
	for _, c := range []struct {
		high, low uint64
		top       uint16
		mantissa  uint64
	}{
		{0x3fff << 48, 1 << 48, 0x3fff, 1 << 63},                             // half: to the even one below
		{0x3fff << 48, 1<<48 + 1, 0x3fff, 1<<63 + 1},                         // more than half
		{0x3fff << 48, 3 << 48, 0x3fff, 1<<63 + 2},                           // half: to the even one above
		{0x3fffffffffffffff, math.MaxUint64, 0x4000, 1 << 63},                // to the next power of two
		{0x7ffeffffffffffff, math.MaxUint64, 0x7fff, 1 << 63},                // to infinity
		{0x0000ffffffffffff, math.MaxUint64, 1, 1 << 63},                     // to the first that is not denormal
		{0x7fff000000000000, 1, 0x7fff, 1<<63 | 1},                           // no number, in bits that are lost
		{0x3fff << 48, 1<<48 - 1, 0x3fff, 1 << 63},                           // less than half
		{0xbfff000000000000, 2 << 48, 0xbfff, 1<<63 + 1},                     // exact
		{0x0000000000000000, 1<<48 + 1, 0, 1},                                // denormal
		{0x8000ffffffffffff, 0xfffe000000000000, 0x8000, 1<<63 - 1},          // exact, denormal
		{0x0001000000000000, 0x0000000000000000, 1, 1 << 63},                 // the first that is not denormal
		{0x7fff800000000000, 0x0000000000000000, 0x7fff, 3 << 62},            // no number
		{0x4000921fb54442d1, 0x8469898cc51701b8, 0x4000, 0xc90fdaa22168c235}, // pi
	} {
		if top, mantissa := extendedOf(c.high, c.low); top != c.top || mantissa != c.mantissa {
			t.Errorf("%x %x rounds to %x %x, want %x %x", c.high, c.low, top, mantissa, c.top, c.mantissa)
		}
	}
}

// TestQuadrupleOfDoubles: an 80-bit number that is a double has the quadruple of that double.
func TestQuadrupleOfDoubles(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 1000 {
		d := math.Float64frombits(r.Uint64())
		bits := math.Float64bits(d)
		e := int(bits>>52) & 0x7ff
		if e == 0 || e == 0x7ff {
			continue
		}
		top := uint16(e-1023+16383) | uint16(bits>>63)<<15
		high, low := quadOf(top, 1<<63|bits<<12>>1)
		if want := uint64(top)<<48 | bits<<12>>16; high != want || low != bits<<60 {
			t.Errorf("%v is %x %x, want %x %x", d, high, low, want, bits<<60)
		}
	}
}
