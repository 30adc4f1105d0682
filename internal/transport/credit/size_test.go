package credit

import (
	"runtime"
	"testing"
	"unsafe"
)

func TestStateOfAPairFitsFortyBytes(t *testing.T) {
	if b, l := unsafe.Sizeof(Borrower{}), unsafe.Sizeof(Lender{}); b > 20 || l > 16 {
		t.Errorf("the halves take %d and %d bytes, want 20 and 16, with a bit of the scavenge list below 40", b, l)
	}
}

// TestMemoryOfTenThousandPeers measures what a rank of a large job allocates: both halves for every peer, and the
// ledger.
func TestMemoryOfTenThousandPeers(t *testing.T) {
	const ranks = 10_000
	var before, after runtime.MemStats
	c := Terms(ranks, 1024)
	runtime.GC()
	runtime.GC() // what the first one found is swept by now
	runtime.ReadMemStats(&before)
	pairs := make([]Borrower, ranks)
	for i := range pairs {
		b, err := Borrow(&c)
		if err != nil {
			t.Fatal(err)
		}
		pairs[i] = b
	}
	g, err := NewLedger(c, 0, ranks)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := float64(after.HeapAlloc-before.HeapAlloc) / ranks
	runtime.KeepAlive(pairs)
	runtime.KeepAlive(g)
	t.Logf("%.1f bytes a peer, the ledger's own and the allocator's rounding included", each)
	if each > 40 { // of 36.1, rounded up to whole pages twice
		t.Errorf("%.1f bytes a peer", each)
	}
}
