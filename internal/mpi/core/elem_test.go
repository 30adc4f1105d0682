package core

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
)

// TestTypesOfOneSlot: types whose words share a slot are all known, each judged once, whoever asks first.
func TestTypesOfOneSlot(t *testing.T) {
	types := []reflect.Type{
		reflect.TypeFor[int8](), reflect.TypeFor[string](), reflect.TypeFor[[3]float64](), reflect.TypeFor[*int](),
		reflect.TypeFor[struct{ A, B int32 }](), reflect.TypeFor[map[int]int](), reflect.TypeFor[uint16](),
	}
	var list atomic.Pointer[Elem]
	got := make([][]*Elem, 8)
	var wg sync.WaitGroup
	for g := range got {
		wg.Go(func() {
			for i := range types {
				k := (i + g) % len(types)
				got[g] = append(got[g], addElem(&list, types[k], uintptr(1000+k)))
			}
		})
	}
	wg.Wait()
	for g := range got {
		for i := range types {
			k := (i + g) % len(types)
			e := findElem(list.Load(), uintptr(1000+k))
			if e == nil || got[g][i] != e || (e.err == nil) != (judge(types[k]) == nil) {
				t.Errorf("%v: %v and %v", types[k], got[g][i], e)
			}
		}
	}
	if e := findElem(list.Load(), 1); e != nil {
		t.Errorf("a type that nobody asked for: %v", e)
	}
}

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

func elemOf[T any]() *Elem { return JudgeElem(reflect.TypeFor[T](), TypeWord((*T)(nil))) }

// TestShapes: what has one type signature has one shape, and nothing else has.
func TestShapes(t *testing.T) {
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
		first := list[0].shape()
		for _, e := range list {
			if e.shape() != first {
				t.Errorf("set %d: shapes %#x and %#x", i, first, e.shape())
			}
		}
		name := fmt.Sprint("set ", i)
		if other := seen[first]; other != "" {
			t.Errorf("%s has the shape of %s", name, other)
		}
		seen[first] = name
	}
	if a, b := elemOf[struct{ A, B int32 }]().shape(), elemOf[int32]().shape(); a != b {
		t.Errorf("two int32 are %#x, one is %#x", a, b)
	}
}
