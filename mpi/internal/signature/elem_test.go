package signature

import (
	"fmt"
	"reflect"
	"testing"
)

type (
	metres  float64
	vector  struct{ X, Y float64 }
	mixedAB struct {
		A int32
		B float64
	}
	mixedBA struct {
		B float64
		A int32
	}
)

func elemOf[T any]() *Elem { return NewElem(reflect.TypeFor[T]()) }

// TestSignatures: what has one type signature has one signature, and nothing else has.
func TestSignatures(t *testing.T) {
	same := [][]*Elem{
		{
			elemOf[float64](), elemOf[metres](), elemOf[[2]float64](), elemOf[vector](), elemOf[[3]vector](),
			elemOf[struct{ V [5]vector }](),
		},
		{elemOf[int](), elemOf[int64]()},
		{elemOf[uint](), elemOf[uint64](), elemOf[uintptr]()},
		{elemOf[byte](), elemOf[[16]byte]()},
		{elemOf[mixedAB](), elemOf[[4]mixedAB]()},
		{elemOf[mixedBA]()},
		{elemOf[float32]()},
		{elemOf[int32]()},
		{elemOf[uint32]()},
		{elemOf[int8]()},
		{elemOf[bool]()},
		{elemOf[complex128]()},
		{elemOf[struct {
			A int32
			B float32
		}]()},
	}
	seen := make(map[uint64]string)
	for i, list := range same {
		first := list[0].Signature()
		for _, e := range list {
			if e.Signature() != first {
				t.Errorf("set %d: shapes %#x and %#x", i, first, e.Signature())
			}
		}
		name := fmt.Sprint("set ", i)
		if other := seen[first]; other != "" {
			t.Errorf("%s has the signature of %s", name, other)
		}
		seen[first] = name
	}
	if a, b := elemOf[struct{ A, B int32 }]().Signature(), elemOf[int32]().Signature(); a != b {
		t.Errorf("two int32 are %#x, one is %#x", a, b)
	}
}
