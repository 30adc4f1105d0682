package terms

import (
	"testing"

	"github.com/golci/golci/internal/transport/credit"
	"github.com/golci/golci/internal/transport/receivepool"
	"github.com/golci/golci/internal/transport/udp"
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
		o := mustOptions(c.pairs...)
		o.Spans = c.spans
		if got := o.Credits(8).Mode; got != c.want {
			t.Errorf("%v, spans %v: %v", c.pairs, c.spans, got)
		}
	}
}

// TestTermsOfEverySize: the terms of every size of job work. Ranks have room for exactly what is lent and banked. Rings
// of a job with a network are as long as the loans in them. In jobs of up to 64 ranks a peer starts with room for
// several of the longest records.
func TestTermsOfEverySize(t *testing.T) {
	for _, over := range []string{"auto", "udp"} {
		for size := 2; size <= 1<<20; size += 1 + size/3 {
			o := mustOptions("GOLCI_CONDUIT", over)
			o.Spans = true
			c := o.Credits(size)
			c.Narrow = true
			if _, err := credit.NewLedger(c, 0, size); err != nil {
				t.Fatalf("%d ranks: %v", size, err)
			}
			longest := o.Record(size)
			u := o.Pooled(udp.Config{Size: size})
			if s := receivepool.ShapeFor(u.Credits, longest); u.Credits != c.Total(size) || s.Credits != u.Credits {
				t.Errorf("%d ranks: room for %d credits, %d are lent and banked, %d fit whole buffers",
					size, u.Credits, c.Total(size), s.Credits)
			}
			if u.Conduit.Loan != c.Max || o.ConduitConfig(size).Loan != c.PerPeer {
				t.Errorf("%d ranks: stages for %d of %d credits, rings for %d of %d",
					size, u.Conduit.Loan, c.Max, o.ConduitConfig(size).Loan, c.PerPeer)
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

// TestReceiveMemory computes what the receive pool of a rank takes at most, in jobs over datagrams with default
// settings: room for every credit, lent or banked, in whole buffers, the spare one included. The reference is the
// GASNet Portals conduit at 10,000 ranks: ten buffers of 1 MiB for the first loans, and two spare ones.
func TestReceiveMemory(t *testing.T) {
	const portals = 12 << 20
	t.Logf("%6s %8s %8s %8s %9s %8s %11s", "ranks", "a peer", "lent", "banked", "credits", "buffers", "bytes")
	for _, c := range []struct{ size, first, least, most int }{
		{2, 2000, 1000, 1_600_000},
		{64, 500, 25600, 17_500_000},
		{1024, 32, 23_000, 17_500_000},
		{10_000, 4, 16 * 400, portals},
	} {
		o := mustOptions("GOLCI_CONDUIT", "udp")
		terms := o.Credits(c.size)
		s := receivepool.ShapeFor(terms.Total(c.size), o.Record(c.size))
		lent := terms.PerPeer * (c.size - 1)
		t.Logf("%6d %8d %8d %8d %9d %8d %11d", c.size, terms.PerPeer, lent, terms.Bank, s.Credits, s.Buffers, s.Bytes())
		if s.Credits != lent+terms.Bank || s.Bytes() > c.most {
			t.Errorf("%d ranks: %d bytes for %d credits of %d, want %d bytes at most", c.size, s.Bytes(), s.Credits,
				lent+terms.Bank, c.most)
		}
		if terms.PerPeer != c.first || terms.Bank < c.least {
			t.Errorf("%d ranks: %d credits for each peer, want %d, and %d banked, want %d at least", c.size,
				terms.PerPeer,
				c.first, terms.Bank, c.least)
		}
	}
}

// TestReceiveMemoryFollowsLoans: no job takes more than 19.4 MB, or 4 credits a peer and the least bank.
func TestReceiveMemoryFollowsLoans(t *testing.T) {
	for size := 2; size <= 1<<20; size += 1 + size/50 {
		o := mustOptions("GOLCI_CONDUIT", "udp")
		c := o.Credits(size)
		s := receivepool.ShapeFor(c.Total(size), o.Record(size))
		if most := max(19_400_000, (4*size+16*400)*receivepool.CreditBytes*102/100+2*s.Buffer); s.Bytes() > most {
			t.Errorf("%d ranks: %d bytes of receive space, want %d at most", size, s.Bytes(), most)
		}
	}
}
