package conformance

import (
	"bytes"
	"errors"
	"testing"

	"github.com/golci/golci/conduit"
)

// keeper sends bulk data from rank 0 to rank 1 that the conduit may keep, and notes what it gets back.
type keeper struct {
	ending
	c       conduit.Conduit
	inside  bool // a Poll or Close is under way
	taken   int  // bytes that the conduit keeps, or has kept
	keeping int  // calls that took them
}

func newKeeper(t testing.TB, c conduit.Conduit) *keeper { return &keeper{ending: ending{t: t}, c: c} }

func (k *keeper) Completed(n int, err error) {
	if !k.inside {
		k.t.Errorf("%d bytes come back outside of Poll and Close", n)
	}
	k.ending.Completed(n, err)
}

// send spoils at once what it must not matter to change.
func (k *keeper) send(id uint64, off int, data []byte) int {
	n, kept := k.c.BulkSend(1, id, int64(off), data, k)
	switch {
	case kept && n <= 0:
		k.t.Fatalf("%d bytes are kept", n)
	case kept:
		k.taken += n
		k.keeping++
	case n > 0:
		clear(data[:n])
	}
	return n
}

func (k *keeper) poll() int {
	k.inside = true
	defer func() { k.inside = false }()
	return max(0, k.c.Poll(4, &sink{t: k.t}))
}

// close closes the conduit, after which nothing comes back any more.
func (k *keeper) close() {
	k.inside = true
	checkClose(k.t, k.c)
	k.inside = false
	k.all("Close")
}

// all checks that all that was kept has come back, once for each call.
func (k *keeper) all(when string) {
	k.t.Helper()
	if k.n != k.taken || k.calls != k.keeping {
		k.t.Errorf("after %s %d calls with %d bytes were completed; %d calls kept %d", when, k.calls, k.n, k.keeping, k.taken)
	}
}

// fill sends until there is no room, size bytes each time.
func (k *keeper) fill(size int) {
	for n := 1; n > 0; {
		n = k.send(1, 0, make([]byte, size))
	}
}

// keptSizes are lengths of bulk data, of which the longer ones are worth to be kept.
func keptSizes(caps conduit.Caps) []int {
	c := caps.BulkChunk
	return []int{1, 100, c - 1, c, 2*c + 1, 100_000, caps.BulkSlots*c + 17}
}

// testBulkKept: what the conduit keeps arrives as it was sent, and comes back once. What it does not keep it has
// copied.
func testBulkKept(t suite, cs []conduit.Conduit) {
	needBulk(t, cs[0])
	for id, size := range keptSizes(cs[0].Caps()) {
		want, data := make([]byte, size), make([]byte, size)
		fill(want, uint64(size))
		copy(data, want)
		k, key := newKeeper(t, cs[0]), bulkKey{0, uint64(id)}
		s := &sink{t: t, scattered: !cs[0].Caps().Ordered}
		w := newWaiter(t, "%d bytes", size)
		for off := 0; s.have(key) < size || k.n < k.taken; {
			n := 0
			if off < size {
				n = k.send(key.id, off, data[off:])
			}
			off += n
			if k.poll()+cs[1].Poll(2, s)+n == 0 {
				w.pause()
			}
		}
		for range 20 {
			k.poll()
		}
		k.all("the end")
		if k.err != nil || !bytes.Equal(s.bulk[key], want) {
			t.Errorf("%d bytes: other bytes arrived; %v", size, k.err)
		}
	}
}

// testBulkKeptWakes: bytes that come back wake whoever sleeps in the conduit.
func testBulkKeptWakes(t suite, cs []conduit.Conduit) {
	needBulk(t, cs[0])
	stop := watchdog(newWaiter(t, "kept bytes to come back to a sleeper"))
	defer stop()
	defer pollBeside(cs[1], &sink{t: t, chunk: func(int, uint64, int64, []byte) {}})()
	k := newKeeper(t, cs[0])
	for range t.rounds(200) {
		k.send(1, 0, make([]byte, 40_000))
		for k.n < k.taken {
			if k.poll() == 0 {
				cs[0].Sleep(long, nil)
			}
		}
	}
	k.all("the end")
}

// testBulkKeptClose: when Close has returned, all that the conduit kept is the caller's again.
func testBulkKeptClose(t suite, cs []conduit.Conduit) {
	k := newKeeper(t, cs[0])
	k.fill(100_000)
	k.poll()
	k.close()
	if k.err != nil && !errors.Is(k.err, conduit.ErrClosed) {
		t.Error(k.err)
	}
	if n := k.send(1, 0, make([]byte, 100_000)); n != -1 {
		t.Errorf("after Close %d bytes were taken", n)
	}
}

// testBulkKeptPeerGone: what the conduit keeps for a peer that closes comes back, with its failure or as sent.
func testBulkKeptPeerGone(t suite, cs []conduit.Conduit) {
	k := newKeeper(t, cs[0])
	k.fill(100_000)
	checkClose(t, cs[1])
	w := newWaiter(t, "news of the closed peer")
	for k.n < k.taken || cs[0].Failed(1) == nil {
		if k.poll() == 0 {
			w.pause()
		}
	}
	k.all("the end of the peer")
	if k.err != nil && !errors.Is(k.err, conduit.ErrPeerClosed) {
		t.Error(k.err)
	}
	if n := k.send(1, 0, make([]byte, 100_000)); n != -1 {
		t.Errorf("after its end %d bytes were taken", n)
	}
}
