package deathnotice

import (
	"math/bits"
	"slices"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestAllHear: whoever begins, all that live know in ceil(log2 N) hops and one for each that is dead, and each of them
// tells once.
func TestAllHear(t *testing.T) {
	for _, size := range []int{2, 3, 4, 7, 64, 1000} {
		for _, deaths := range []int{1, min(3, size-1)} {
			ranks := make([]Notices, size)
			for r := range ranks {
				ranks[r] = New(r, size)
			}
			const first = 0
			gone := func(r int) bool { return r >= size-deaths } // those before the first
			knows, hops := map[int]bool{first: true}, 0
			for front := []int{first}; len(front) > 0; hops++ {
				var next []int
				for _, r := range front {
					for _, to := range ranks[r].Hear(size - 1) {
						if !gone(to) && !knows[to] {
							knows[to], next = true, append(next, to)
						}
					}
					if again := ranks[r].Hear(size - 1); len(again) > 0 {
						t.Fatalf("rank %d of %d tells twice: %v", r, size, again)
					}
				}
				front = next
			}
			if most := bits.Len(uint(size-1)) + deaths + 1; len(knows) != size-deaths || hops > most {
				t.Errorf("%d of %d ranks know after %d hops, want %d after %d", len(knows), size, hops, size-deaths, most)
			}
		}
	}
}

// TestWhom: the distances double, the dead is left out, and what makes no sense is not passed on.
func TestWhom(t *testing.T) {
	n := New(6, 8)
	if got := n.Hear(0); !slices.Equal(got, []int{7, 2}) {
		t.Errorf("tells %v", got)
	}
	n.Alive(1)
	if got := n.Hear(0); len(got) > 0 {
		t.Errorf("tells %v again, though only another rank was heard", got)
	}
	n.Alive(0)
	if got := n.Hear(0); !slices.Equal(got, []int{7, 2}) {
		t.Errorf("when it was alive and dies again, tells %v", got)
	}
	for _, dead := range []int{0, 6, -1, 8} {
		if got := n.Hear(dead); len(got) > 0 {
			t.Errorf("of rank %d tells %v", dead, got)
		}
	}
}
