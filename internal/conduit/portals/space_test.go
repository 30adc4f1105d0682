package portals

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/golci/golci/comm/conduit"
)

// small has buffers of a few dozen records.
func small(loan, spares int) Config {
	return Config{BufferChunks: 8, Spares: spares, Conduit: conduit.Config{Loan: loan, MaxRecord: 1024}}
}

// laps sends n records from c to to, which polls, and checks that all arrive.
func laps(t *testing.T, c, to *Conduit, l *log, n int) {
	t.Helper()
	before := len(l.serials)
	for i := range n {
		must(t, c, to.rank, conduit.Request, 250, uint64(i))
		pollAll(to, l)
	}
	if got := len(l.serials) - before; got != n {
		t.Fatalf("%d of %d records arrived", got, n)
	}
}

// TestStalledSender stops a sender between reserving and publishing. The others go on, through many times the whole space, and
// its record arrives when it comes back.
func TestStalledSender(t *testing.T) {
	cs := ranks(t, 3, small(16, 2))
	l := &log{}
	if _, st := cs[0].Reserve(2, conduit.Request, 64); st != conduit.OK {
		t.Fatal(st)
	}
	laps(t, cs[1], cs[2], l, 5000)
	if cs[2].Pending() {
		t.Error("a record that is not published is pending")
	}
	cs[0].Commit(2, 64)
	if !cs[2].Pending() {
		t.Error("the late record is not seen")
	}
	pollAll(cs[2], l)
	if len(l.serials) != 5001 {
		t.Errorf("%d records", len(l.serials))
	}
	laps(t, cs[1], cs[2], l, 1000)
	if st := cs[2].Stats(); st.Overflow != 0 || cs[1].Stats().AM.Full != 0 {
		t.Errorf("%+v", st)
	}
}

// TestGate stops as many senders, in as many buffers, as there are spares. Then no further buffer is begun, so that credits do
// not come back while their space is bound, and what is within credits still finds room. One sender that returns opens the gate.
func TestGate(t *testing.T) {
	const loan = 40
	cs := ranks(t, 4, small(loan, 2))
	to := cs[3]
	l := &log{}
	sent := 0
	under := func() int { return sent - len(l.serials) } // credits in use
	for i := range 2 {
		if _, st := cs[i].Reserve(3, conduit.Request, 64); st != conduit.OK {
			t.Fatal(st)
		}
		for n := 0; n < loan && to.Stats().AM.Stalls == 0; n++ {
			must(t, cs[2], 3, conduit.Request, 250, 0)
			sent++
			to.Poll(8, l)
		}
	}
	if to.Stats().AM.Stalls == 0 || under() == 0 {
		t.Fatalf("the gate never closed: %d sent, %+v", sent, to.Stats())
	}
	for ; under() < loan; sent++ {
		must(t, cs[2], 3, conduit.Request, 250, 0)
	}
	if n := to.Poll(8, l); n != 0 {
		t.Fatalf("%d records through a closed gate", n)
	}
	cs[0].Commit(3, 64)
	pollAll(to, l)
	if under() != -1 {
		t.Errorf("%d records wait behind an open gate", under()+1)
	}
	cs[1].Commit(3, 64)
	pollAll(to, l)
	laps(t, cs[2], to, l, 1000)
	if to.Stats().Overflow != 0 {
		t.Error("overflow within credits")
	}
}

// TestOverflow ignores credits until the space is full.
func TestOverflow(t *testing.T) {
	cs := ranks(t, 3, small(4, 1))
	sent := 0
	st := conduit.OK
	for ; st == conduit.OK; sent++ {
		st = sendTo(cs[0], 1, conduit.Request, 1000, uint64(sent))
	}
	sent--
	if st != conduit.Dead || sent*1000 < 12*conduit.CreditBytes {
		t.Fatalf("after %d records: %v", sent, st)
	}
	for _, end := range []struct{ c, of int }{{0, 1}, {1, 0}} {
		err := cs[end.c].Failed(end.of)
		if !errors.Is(err, ErrOverflow) || !strings.Contains(err.Error(), "rank 0 sent a request of 1000 bytes to rank 1") {
			t.Errorf("rank %d: %v", end.c, err)
		}
	}
	if n := cs[1].Stats().Overflow; n != 1 || cs[0].Stats().AM.Full != 1 {
		t.Errorf("%d overflows, %d refusals", n, cs[0].Stats().AM.Full)
	}
	l := &log{}
	pollAll(cs[1], l)
	if len(l.serials) != sent {
		t.Errorf("%d of %d records that had room arrived", len(l.serials), sent)
	}
	laps(t, cs[2], cs[1], l, 500)
}

// TestDrop gives places back at the end, leaves pads in the middle, and never makes a pad an overflow.
func TestDrop(t *testing.T) {
	cs := ranks(t, 3, small(4, 2))
	q := &cs[2].seg.queues[amQueue]
	l := &log{}
	fill := q.fills[0].Load()
	for range 100 {
		if _, st := cs[0].Reserve(2, conduit.Request, 512); st != conduit.OK {
			t.Fatal(st)
		}
		cs[0].drop(2)
	}
	if q.fills[0].Load() != fill || q.padded.Load() != 0 {
		t.Error("a place at the end was not given back")
	}
	pads := 0
	for st := conduit.OK; ; pads++ {
		if _, st = cs[0].Reserve(2, conduit.Request, 512); st != conduit.OK {
			if st != conduit.Retry {
				t.Fatalf("full of pads: %v, %v", st, cs[0].Failed(2))
			}
			break
		}
		if _, st = cs[1].Reserve(2, conduit.Request, 8); st == conduit.OK {
			cs[0].drop(2)
			cs[1].drop(2)
		} else {
			cs[0].drop(2)
			break
		}
	}
	if q.padded.Load() == 0 || pads == 0 {
		t.Error("no pads")
	}
	pollAll(cs[2], l)
	if q.padded.Load() != 0 || len(l.serials) != 0 {
		t.Errorf("%d units of pads left, %d records", q.padded.Load(), len(l.serials))
	}
	laps(t, cs[0], cs[2], l, 500)
	if got := cost(cs[0].purse.free.Load()).tickets(); got < defaultTickets/2 {
		t.Errorf("%d tickets left", got)
	}
}

// TestReserveTwice takes the first place back.
func TestReserveTwice(t *testing.T) {
	cs := ranks(t, 2, Config{})
	l := &log{}
	for i := range uint64(1000) {
		cs[0].Reserve(1, conduit.Request, 700)
		must(t, cs[0], 1, conduit.Request, 64, i)
		pollAll(cs[1], l)
	}
	if len(l.serials) != 1000 {
		t.Errorf("%d records", len(l.serials))
	}
}

// TestMemory measures one rank among ten thousand.
func TestMemory(t *testing.T) {
	if n := unsafe.Sizeof(lane{}); n != 32 {
		t.Errorf("a lane takes %d bytes", n)
	}
	const peers, loan = 10_000, 4
	measure := func(n int) (heap int, st Stats) {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		cs, err := newRanks(n, []int{0}, Config{Conduit: conduit.Config{Loan: loan, MaxRecord: 1024}})
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		st = cs[0].(*Conduit).Stats()
		if err := cs[0].Close(); err != nil {
			t.Fatal(err)
		}
		return int(after.HeapAlloc) - int(before.HeapAlloc), st
	}
	heap, st := measure(peers)
	queues := st.SegmentBytes - peers*8
	perPeer := float64(heap-queues) / peers
	t.Logf("%d ranks at %d credits: heap %d, request space %d, segment %d, beside the queues %.1f bytes a peer",
		peers, loan, heap, st.RequestBytes, st.SegmentBytes, perPeer)
	if st.RequestBytes > 15e6 || st.RequestBytes < peers*loan*conduit.CreditBytes {
		t.Errorf("request space %d bytes", st.RequestBytes)
	}
	// The pointer to each rank of the process and the bitmaps of the queues are in it.
	if perPeer > 60 {
		t.Errorf("%.1f bytes a peer", perPeer)
	}
}
