package udp_test

import (
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/udptest"
)

// crumbSink counts pieces of one byte by the place they are for.
type crumbSink struct {
	t    *testing.T
	came []int
}

func (s *crumbSink) Record(src int, rec []byte) {
	s.t.Errorf("a record of %d bytes from rank %d", len(rec), src)
}

func (s *crumbSink) Bulk(_ int, id uint64, _ int64, b []byte) {
	if len(b) != 1 || b[0] != byte(id) || id >= uint64(len(s.came)) {
		s.t.Errorf("%d bytes for place %d", len(b), id)
		return
	}
	s.came[id]++
}

// Gone implements conduit.Sink.
func (*crumbSink) Gone(int, error) {}

// TestCrumbs: a window of bulk data may be used up byte by byte, by as many messages, while the receiver takes none.
// Nobody may be taken for corrupt for that, whatever his pieces cost there.
func TestCrumbs(t *testing.T) {
	const slots, chunk, crumbs = 64, 64, 4000 // with what is kept of each it is 30 windows
	cs := udptest.Job{}.Open(t, 2, conduit.Config{BulkChunk: chunk, BulkSlots: slots})
	sink := &crumbSink{t: t, came: make([]int, crumbs)}
	for i := 0; i < crumbs; {
		n, _ := cs[0].BulkSend(1, uint64(i), 0, []byte{byte(i)}, nil)
		if n < 0 {
			t.Fatalf("byte %d: %v", i, cs[0].Failed(1))
		}
		i += n
		cs[0].Poll(1<<10, sink)
	}
	for got, end := 0, time.Now().Add(time.Minute); got < crumbs; {
		n := cs[1].Poll(1<<10, sink)
		if err := cs[1].Failed(0); err != nil || time.Now().After(end) {
			t.Fatalf("after %d of %d: %v", got, crumbs, err)
		}
		got += max(n, 0)
		cs[0].Poll(1<<10, sink)
	}
	for i, n := range sink.came {
		if n != 1 {
			t.Errorf("byte %d came %d times", i, n)
		}
	}
	closeAll(t, cs)
}
