// Package local is the conduit between ranks of one process. It works on every platform. In builds for the race
// detector all its memory is on the heap, so that the detector sees it.
package local

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/futex"
	"github.com/golci/golci/internal/transport/ring"
)

// Name is what Caps calls this conduit.
const Name = "local"

// New returns the conduits of n ranks that share this process, by rank. The error matches conduit.ErrConfig. Memory
// is n times n rings, of which the system gives only what is used. When a rank closes its conduit, the others find it
// closed.
func New(n int, cfg conduit.Config) ([]conduit.Conduit, error) {
	g, err := ring.NewGeometry(cfg, n)
	if err != nil {
		return nil, err
	}
	setup := ring.Setup{
		Name: Name, Size: n, Ranks: make([]int, n), Segments: make([]*ring.Segment, n), Bells: make([]ring.Bell, n),
	}
	fence := futex.RegisterMembarrier()
	ends := make([]*rankMemory, n)
	var open atomic.Int32
	open.Store(int32(n))
	for i := range n {
		setup.Ranks[i] = i
		setup.Bells[i] = newBell(fence)
		m := newMemory(g.Size())
		ends[i] = &rankMemory{all: ends, open: &open, segment: m, lost: make([]atomic.Bool, n)}
		runtime.AddCleanup(ends[i], memory.unmap, m)
		if setup.Segments[i], err = ring.NewSegment(m.mem, g, i); err != nil {
			return nil, err
		}
	}
	all := make([]conduit.Conduit, n)
	for i := range n {
		setup.Rank, setup.Self, setup.Memory = i, i, ends[i]
		if ends[i].ring, err = ring.NewEndpoint(setup); err != nil {
			return nil, err
		}
		all[i] = ends[i].ring
	}
	return all, nil
}

// bell sleeps on a channel: within one process that leaves the wake-up to Go's scheduler, and holds no OS thread.
type bell struct {
	rung  chan struct{} // a token stays for a sleeper that is not there yet
	timer *time.Timer   // used by the one sleeper
	fence bool
}

func newBell(fence bool) *bell {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &bell{rung: make(chan struct{}, 1), timer: t, fence: fence}
}

func (b *bell) Fence() bool { return b.fence && futex.MembarrierPrivate() }

func (b *bell) Wait(_ *atomic.Uint32, d time.Duration) {
	b.timer.Reset(d)
	select {
	case <-b.rung:
	case <-b.timer.C:
	}
	b.timer.Stop()
}

func (b *bell) Ring(*atomic.Uint32) {
	select {
	case b.rung <- struct{}{}:
	default:
	}
}
