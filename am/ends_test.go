package am

import (
	"errors"
	"math"
	"testing"

	"github.com/golci/golci/fult"
)

// stubborn is a queued send that cannot be sent.
type stubborn struct {
	next Queued
	err  error
}

func (*stubborn) Emit() bool                       { return false }
func (*stubborn) Sent(*fult.Worker)                {}
func (s *stubborn) Fail(err error, _ *fult.Worker) { s.err = err }
func (s *stubborn) Next() *Queued                  { return &s.next }

// TestCloseEndsWhatIsQueued: Close ends the sends that wait, though nobody polls any more.
func TestCloseEndsWhatIsQueued(t *testing.T) {
	es := endpoints(t, 2, variants[0], Config{})
	var waiting [3]stubborn
	for i := range waiting {
		if o := es[0].Lock(1); o != Stalled {
			t.Fatalf("the pair is %v", o)
		}
		es[0].Enqueue(1, &waiting[i])
	}
	es[0].Close()
	for i := range waiting {
		if !errors.Is(waiting[i].err, ErrClosed) {
			t.Errorf("send %d: %v", i, waiting[i].err)
		}
	}
}

// TestSegmentBounds: bytes outside the segment are refused, wherever they lie.
func TestSegmentBounds(t *testing.T) {
	const size = 100
	var s segment
	if _, err := s.sliceOf(0, 1); !errors.Is(err, ErrSize) {
		t.Errorf("without a segment: %v", err)
	}
	mem := make([]byte, size)
	s.mem.Store(&mem)
	for _, x := range []struct {
		off int64
		n   int
		ok  bool
	}{
		{0, size, true},
		{0, 1, true},
		{size - 1, 1, true},
		{40, 60, true},
		{0, 0, true},
		{-1, 0, true},
		{math.MaxInt64, 0, true},
		{0, size + 1, false},
		{1, size, false},
		{size, 1, false},
		{size - 1, 2, false},
		{size + 1, 1, false},
		{-1, 1, false},
		{-1, size, false},
		{math.MinInt64, 1, false},
		{math.MaxInt64, 1, false},
		{math.MaxInt64, math.MaxInt, false},
		{5, -1, false},
		{5, math.MinInt, false},
	} {
		b, err := s.sliceOf(x.off, x.n)
		if (err == nil) != x.ok || err != nil && !errors.Is(err, ErrSize) {
			t.Errorf("%d bytes at %d: %v", x.n, x.off, err)
		}
		if x.ok && len(b) != x.n {
			t.Errorf("%d bytes at %d: got %d", x.n, x.off, len(b))
		}
		if x.ok && x.n > 0 && &b[0] != &mem[x.off] {
			t.Errorf("%d bytes at %d: got others", x.n, x.off)
		}
	}
}
