package mpi

import (
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/mpi/internal/signature"
)

// TestTypesOfOneSlot: types whose words share a slot are all known, each judged once, whoever asks first.
func TestTypesOfOneSlot(t *testing.T) {
	types := []reflect.Type{
		reflect.TypeFor[int8](), reflect.TypeFor[string](), reflect.TypeFor[[3]float64](), reflect.TypeFor[*int](),
		reflect.TypeFor[struct{ A, B int32 }](), reflect.TypeFor[map[int]int](), reflect.TypeFor[uint16](),
	}
	var list atomic.Pointer[checkedType]
	got := make([][]*checkedType, 8)
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
			if e == nil || got[g][i] != e || (e.elem.Err() == nil) != (signature.NewElem(types[k]).Err() == nil) {
				t.Errorf("%v: %v and %v", types[k], got[g][i], e)
			}
		}
	}
	if e := findElem(list.Load(), 1); e != nil {
		t.Errorf("a type that nobody asked for: %v", e)
	}
}
