package mpi

import (
	"fmt"
	"slices"
	"testing"
)

// TestAllocCollectives: ranks get what the others send, which only these know. Wrong counts are an error on all ranks.
func TestAllocCollectives(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5} {
		must(t, n, func(c *Comm) error {
			me := c.Rank()
			part := func(from, to int) []int32 { return slices.Repeat([]int32{int32(100*from + to)}, (from*to+from)%4) }
			for root := range n {
				all, counts, err := GathervAlloc(c, part(me, root), root)
				if err != nil {
					return err
				}
				var want []int32
				var lens []int
				for r := 0; r < n && me == root; r++ {
					want, lens = append(want, part(r, root)...), append(lens, len(part(r, root)))
				}
				if !slices.Equal(all, want) || !slices.Equal(counts, lens) || me != root && (all != nil || counts != nil) {
					return fmt.Errorf("root %d: gathered %v, %v, want %v, %v", root, all, counts, want, lens)
				}
			}
			var send, want []int32
			var counts, lens []int
			for r := range n {
				send, counts = append(send, part(me, r)...), append(counts, len(part(me, r)))
				want, lens = append(want, part(r, me)...), append(lens, len(part(r, me)))
			}
			got, from, err := AlltoallvAlloc(c, send, counts)
			if err != nil || !slices.Equal(got, want) || !slices.Equal(from, lens) {
				return fmt.Errorf("got %v, %v, %w, want %v, %v", got, from, err, want, lens)
			}
			return nil
		})
	}
	for name, counts := range map[string][]int{"too few": {1}, "too many": {0, 0, 0}, "negative": {-1, 1}, "more than there are": {1, 2}} {
		must(t, 2, func(c *Comm) error {
			mine, want := []int{0, 0}, ErrCollective
			if c.Rank() == 0 {
				mine, want = counts, ErrCount
			}
			err := third(AlltoallvAlloc(c, []byte{1, 2}, mine))
			if name == "negative" {
				want = nil // who finds it first is the one that tells
			}
			if err == nil || want != nil && wants(want, err) != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
	}
}
