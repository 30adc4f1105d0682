//go:build golci_invariants || race

package pool

import "testing"

const poison = -77

func poisoned(t *testing.T) *Pool[item] {
	p, err := New(Options[item]{
		Workers: 2, Limit: 2, Initial: 2, New: func() *item { return new(item) },
		Poison: func(x *item) { x.id = poison },
		Check:  func(x *item) bool { return x.id == poison },
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPoison(t *testing.T) {
	for thief := range 2 { // through both ways of getting
		p := poisoned(t)
		a := p.Get(0)
		a.id = 1
		p.Get(1) // so that a is the only one to be had
		p.Put(0, a)
		if a.id != poison {
			t.Fatal("a free item is not poisoned")
		}
		p.Get(thief)
		p.Put(0, a)
		a.id = 5 // used after it was given back
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("worker %d: a write to a free item went unnoticed", thief)
				}
			}()
			p.Get(thief)
		}()
	}
}
