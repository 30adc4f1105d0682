package am

import (
	"runtime"
	"slices"
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/credit"
	"github.com/golci/golci/internal/transport/local"
)

// vast is a conduit of so many ranks, over which nothing goes.
type vast struct {
	conduit.Conduit
	n int
}

func (v vast) Size() int { return v.n }

func heapNow() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestMemoryOfManyPeers: an endpoint keeps little more than the lender's half of the credits of a peer without traffic.
func TestMemoryOfManyPeers(t *testing.T) {
	const peers, busy = 10_000, 64
	cs, err := local.New(1, conduit.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cs[0].Close() })
	measure := func(n int) (bytes int, e *Endpoint) {
		before := heapNow()
		e, err := New(vast{wordless{cs[0]}, n}, Config{Credits: credit.Config{
			PerPeer: 8, Min: 4, Bank: 1000, Max: 400, LenderLimit: 32, RevokeLimit: 32, Scavenge: 6, Patience: 256, Epoch: 1024,
		}})
		if err != nil {
			t.Fatal(err)
		}
		return heapNow() - before, e
	}
	var e *Endpoint
	var each []float64 // the median of several: what ends of other tests meanwhile counts, too
	for range 7 {
		fixed, few := measure(manyRanks)
		var quiet int
		quiet, e = measure(manyRanks + peers)
		each = append(each, float64(quiet-fixed)/peers)
		runtime.KeepAlive(few)
	}
	slices.Sort(each)
	for p := range busy {
		e.senderOf(p * 100)
	}
	if e.senders[100].Load() == nil || e.senders[101].Load() != nil {
		t.Error("pairs are made before they are used, or not then")
	}
	t.Logf("%.1f bytes for a peer that is not talked to", each[3])
	if each[3] > 48 {
		t.Errorf("%.1f bytes for a peer that was never talked to", each)
	}
	if rep := e.Credits(); rep.Peers[1].Borrowed.Loan != 8 || rep.Peers[100].Borrowed.Loan != 8 || rep.Peers[5000].Lent.Loan != 8 {
		t.Errorf("%+v", rep.Peers[1])
	}
}
