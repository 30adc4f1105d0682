package signature

import (
	"reflect"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSignaturesSpellKinds: a signature tells the kinds of its elements to a process that has not used the type.
func TestSignaturesSpellKinds(t *testing.T) {
	type wide struct {
		A int
		B float32
		C bool
	}
	type packed struct {
		A int8
		_ [3]int8
		B int16
	}
	for _, x := range []struct {
		v    any
		want string
	}{
		{0, "int64"},
		{int64(0), "int64"},
		{uint8(0), "uint8"},
		{[3]float64{}, "float64"},
		{complex64(0), "complex64"},
		{wide{}, "a struct of int64, float32, bool"},
		{[2]wide{}, "a struct of int64, float32, bool"},
		{struct{ A, B float64 }{}, "float64"},
		{packed{}, "a struct of int8, int8, int8, int8, int16"},
		{[0]int{}, ""},
		{struct {
			A [13]int8
			B int
		}{}, ""},
	} {
		signature := signatureOf(reflect.TypeOf(x.v))
		if got := spellKinds(signature); got != x.want || signature == 0 {
			t.Errorf("%T: %q, want %q (signature %#x)", x.v, got, x.want, signature)
		}
	}
	all := map[uint64]reflect.Type{}
	for _, v := range []any{
		int8(0), int16(0), int32(0), int64(0), uint8(0), uint64(0), float32(0), float64(0), false,
		wide{},
		packed{},
		struct {
			A int8
			B int16
		}{},
		struct {
			A int16
			B int8
		}{},
		struct {
			A int8
			B int64
		}{},
		struct {
			A int8
			_ [8]byte
			B int64
		}{},
	} {
		signature := signatureOf(reflect.TypeOf(v))
		if other := all[signature]; other != nil {
			t.Errorf("%T and %v have one signature", v, other)
		}
		all[signature] = reflect.TypeOf(v)
	}
}
