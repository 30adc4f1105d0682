//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"testing"

	"github.com/golci/golci/internal/platform/fi"
)

// TestSlab: slots are long enough, do not overlap, are found by their context, and are used again.
func TestSlab(t *testing.T) {
	b := slab{arenas: &arenas{}, register: func([]byte) (fi.Region, error) { return fi.Region{Desc: 7}, nil }}
	defer b.arenas.unmapAll()
	var slots []*slot
	for i := range 3000 {
		n := i % 2000
		s := b.takeSlot(n)
		if s == nil || !s.fitsIn(n) || s.desc != 7 {
			t.Fatalf("slot for %d bytes: %+v", n, s)
		}
		s.n = n
		for j, m := 0, s.messageBytes(); j < n; j++ {
			m[j] = byte(i)
		}
		slots = append(slots, s)
	}
	for i, s := range slots {
		if b.slotOf(s.base()) != s {
			t.Fatalf("slot %d is not found", i)
		}
		for j, x := range s.messageBytes() {
			if x != byte(i) {
				t.Fatalf("slot %d: byte %d was overwritten by slot %d", i, j, x)
			}
		}
	}
	grown := len(b.all)
	for _, s := range slots {
		b.giveSlot(s)
	}
	for i := range 3000 {
		if s := b.takeSlot(i % 2000); s == nil || s.use != unused || s.n != 0 {
			t.Fatalf("a slot that was given back: %+v", s)
		}
	}
	if len(b.all) != grown {
		t.Errorf("%d slots, and %d before they were given back", len(b.all), grown)
	}
	if b.slotOf(0) != nil {
		t.Error("no context has a slot")
	}
}
