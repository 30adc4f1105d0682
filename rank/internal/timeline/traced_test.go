package timeline

import (
	"errors"
	"os"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/observe/trace"
	"github.com/golci/golci/internal/platform/arch"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// heard is a sink that keeps what it is given of bulk data and deaths.
type heard struct {
	src  int
	id   uint64
	off  int64
	data string
	gone error
}

func (*heard) Record(int, []byte) {}

func (h *heard) Bulk(src int, id uint64, off int64, chunk []byte) {
	*h = heard{src: src, id: id, off: off, data: h.data + string(chunk)}
}

func (h *heard) Gone(peer int, err error) { h.src, h.gone = peer, err }

// TestTracedHandsOn: what stands between the conduit and the endpoint hands bulk data and deaths on, and counts bytes.
func TestTracedHandsOn(t *testing.T) {
	rec, err := trace.New(trace.Config{Path: os.DevNull})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	h := new(heard)
	w := &traced{t: &Timeline{rec: rec}, Conduit: lonely{}, sink: h, track: rec.Track("poller")}
	w.polling.Store(uint64(arch.G()))
	s := (*tracedSink)(w)
	s.Bulk(3, 7, 4096, []byte("a chunk"))
	if want := (heard{src: 3, id: 7, off: 4096, data: "a chunk"}); *h != want {
		t.Errorf("the endpoint got %+v, want %+v", *h, want)
	}
	if got := w.cameBytes.Load(); got != int64(len("a chunk")) || w.handled != 1 {
		t.Errorf("%d bytes and %d chunks are counted", got, w.handled)
	}
	why := errors.New("why")
	if s.Gone(2, why); h.src != 2 || !errors.Is(h.gone, why) {
		t.Errorf("the endpoint heard that rank %d is gone: %v", h.src, h.gone)
	}
}

// TestCountersAfterZero: counters are looked at once they may be, not before: rank 0 may begin later than others count.
func TestCountersAfterZero(t *testing.T) {
	for _, begun := range []bool{false, true} {
		rec, err := trace.New(trace.Config{Path: os.DevNull})
		if err != nil {
			t.Fatal(err)
		}
		l := &Timeline{rec: rec, numbers: rec.Track("counters")}
		var looks atomic.Int64
		l.Count("looks", func() int64 { return looks.Add(1) })
		if begun {
			l.CountFrom()
		}
		l.counters.closeCounters() // which waits for a look that has begun
		if got := looks.Load(); (got > 0) != begun {
			t.Errorf("%d looks, begun: %v", got, begun)
		}
		rec.Close()
	}
}

// TestArrivedOutOfOrder: counts are those of the sender while fewer than 128 records overtake one.
func TestArrivedOutOfOrder(t *testing.T) {
	rec, err := trace.New(trace.Config{Path: os.DevNull})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	w := &traced{t: &Timeline{rec: rec}, next: make([]uint32, 1), Conduit: lonely{}, ep: new(am.Endpoint)}
	come := func(count uint32) uint32 {
		b := make([]byte, 16)
		b[7] = uint8(count)
		return uint32(w.recordArrived(0, b).Flow)
	}
	for base := uint32(0); base < 2000; base += 100 {
		for _, d := range []uint32{0, 99, 50, 1, 98, 2} {
			if got := come(base + d); got != base+d {
				t.Fatalf("%d came as %d", base+d, got)
			}
		}
	}
}

// lonely is rank 0 of a conduit that nobody uses.
type lonely struct{ conduit.Conduit }

// Rank of it.
func (lonely) Rank() int { return 0 }
