package coll

import (
	"bytes"
	"testing"
)

// TestPair: a cursor over two places packs every stretch of their bytes.
func TestPair(t *testing.T) {
	whole := []byte("0123456789")
	for cut := range len(whole) + 1 {
		p := &pair{whole[:cut], whole[cut:]}
		if p.Len() != len(whole) {
			t.Fatalf("%d bytes", p.Len())
		}
		for from := range len(whole) + 1 {
			for to := from; to <= len(whole); to++ {
				got := make([]byte, to-from)
				if p.Pack(got, from); !bytes.Equal(got, whole[from:to]) {
					t.Fatalf("cut at %d, %d to %d: got %q", cut, from, to, got)
				}
			}
		}
	}
}
