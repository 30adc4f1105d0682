package udp_test

import (
	"errors"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
)

// ends notes what comes back of kept data. It belongs to the goroutine that polls and closes.
type ends struct {
	n, calls int
	err      error
}

func (x *ends) Completed(n int, err error) {
	x.n += n
	x.calls++
	x.err = err
}

// TestKeptForTheSilent: what is kept for a peer of which nothing is heard comes back when the peer is dead, or, if this
// rank ends before, when Close has waited long enough.
func TestKeptForTheSilent(t *testing.T) {
	for _, closes := range []bool{false, true} {
		cs, valves := withValves(t, frail, 2)
		exchangeAll(t, cs, 1)
		valves[1].shut.Store(true)
		x := &ends{}
		n, kept := cs[0].BulkSend(1, 1, 0, make([]byte, 1<<20), x)
		if n <= 0 || !kept {
			t.Fatalf("%d bytes are kept: %v", n, kept)
		}
		want := conduit.ErrPeerDied
		if closes {
			want = conduit.ErrClosed
		} else {
			for x.calls == 0 {
				if cs[0].Poll(16, &tallySink{}) == 0 {
					cs[0].Sleep(time.Hour, nil)
				}
			}
		}
		if err := cs[0].Close(); err != nil {
			t.Error(err)
		}
		if x.n != n || x.calls != 1 || !errors.Is(x.err, want) {
			t.Errorf("closes %v: %d of %d bytes came back in %d calls, %v", closes, x.n, n, x.calls, x.err)
		}
		valves[1].shut.Store(false)
		closeAll(t, cs)
	}
}
