package rank

import (
	"testing"

	"github.com/golci/golci/internal/boot"
	"github.com/golci/golci/internal/conduit/receivepool"
	"github.com/golci/golci/internal/credit"
)

// TestLoansFollowDemandOverANetwork: where a network joins ranks, and only there, unless a setting says otherwise.
func TestLoansFollowDemandOverANetwork(t *testing.T) {
	t.Setenv("GOLCI_FLOWCONTROL", "")
	t.Setenv("GOLCI_CONDUIT", "")
	for _, c := range []struct {
		pairs []string
		spans bool
		want  credit.Mode
	}{
		{nil, false, credit.Fixed},
		{nil, true, credit.Dynamic},
		{[]string{"GOLCI_CONDUIT", "udp"}, false, credit.Dynamic},
		{[]string{"GOLCI_CONDUIT", "shm"}, false, credit.Fixed},
		{[]string{"GOLCI_FLOWCONTROL", "static"}, true, credit.Fixed},
		{[]string{"GOLCI_FLOWCONTROL", "none"}, true, credit.NoFlow},
		{[]string{"GOLCI_FLOWCONTROL", "dynamic"}, false, credit.Dynamic},
	} {
		o := mustOptions(c.pairs)
		o.spans = c.spans
		if got := terms(o, 8).Mode; got != c.want {
			t.Errorf("%v, spans %v: %v", c.pairs, c.spans, got)
		}
	}
}

// TestTermsOfEverySize: the terms of every size of job can work. Ranks have room for exactly what is lent and banked.
// Rings of a job with a network are as long as the loans in them. In jobs of up to 64 ranks a peer starts with room
// for several of the longest records.
func TestTermsOfEverySize(t *testing.T) {
	for _, over := range []string{"auto", "udp"} {
		for size := 2; size < 60000; size += 1 + size/3 {
			o := mustOptions([]string{"GOLCI_CONDUIT", over})
			o.spans = true
			c := terms(o, size)
			c.Narrow = true
			if err := c.Check(); err != nil {
				t.Fatalf("%d ranks: %v", size, err)
			}
			longest := record(o, size)
			u, err := datagramConfig(o, &boot.Job{Size: size})
			if s := receivepool.ShapeFor(u.Credits, longest); err != nil || u.Credits != c.Total(size) || s.Credits != u.Credits {
				t.Errorf("%d ranks: room for %d credits, %d are lent and banked, %d fit whole buffers, %v",
					size, u.Credits, c.Total(size), s.Credits, err)
			}
			if u.Conduit.Loan != c.Max || conduitConfig(o, size).Loan != c.PerPeer {
				t.Errorf("%d ranks: stages for %d of %d credits, rings for %d of %d",
					size, u.Conduit.Loan, c.Max, conduitConfig(o, size).Loan, c.PerPeer)
			}
			if size <= 64 && c.PerPeer < 3*c.Min || c.PerPeer < c.Min || longest < 1024 {
				t.Errorf("%d ranks: a loan of %d credits for records of %d bytes", size, c.PerPeer, longest)
			}
			if bytes := c.Total(size) * credit.Unit; bytes > 16<<20 && size <= 64 || bytes > 256*(c.PerPeer*size+60000) {
				t.Errorf("%d ranks: %d bytes of receive space", size, bytes)
			}
		}
	}
}
