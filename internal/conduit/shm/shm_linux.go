package shm

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/conduit/ring"
	"github.com/golci/golci/internal/futex"
)

// end is one rank's conduit.
type end struct {
	*ring.Endpoint
	maps    []*mapping
	conns   []*net.UnixConn // to the other local ranks; each has a watcher
	shared  shared          // memory that ranks have registered
	wg      sync.WaitGroup  // watchers
	remotes []remote        // by rank; fixed
	close   sync.Once
	err     error // of Close
}

// New meets the other local ranks and returns the conduit to them; every local rank must call it. It blocks until all
// are there, at most cfg.Timeout, then returns ErrMissing. Other errors match conduit.ErrConfig or come from the
// kernel. Ranks on other nodes are conduit.ErrUnreachable through it. The words that Mine and Theirs return must not
// be used after the conduit itself has become garbage.
func New(cfg Config) (conduit.Conduit, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	g, err := ring.NewGeometry(cfg.Conduit, len(cfg.Local))
	if err != nil {
		return nil, err
	}
	f, err := createMemory(cfg.Rank, g.Size())
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // the mappings keep the memory
	own, err := mapMemory(f, g.Size())
	if err != nil {
		return nil, err
	}
	seg, err := ring.NewSegment(own.mem, g, cfg.Rank)
	if err != nil {
		own.unmap()
		return nil, err
	}
	x := &exchange{cfg: &cfg, size: g.Size(), own: f, fence: futex.RegisterMembarrier()}
	links, err := x.run()
	if err != nil {
		own.unmap()
		return nil, err
	}
	e, err := assemble(&cfg, g, seg, own, x.fence, links)
	if err != nil {
		own.unmap()
		for _, l := range links {
			l.discard()
		}
		return nil, err
	}
	return e, nil
}

// assemble makes the endpoint of the memories and starts the watchers.
func assemble(cfg *Config, g ring.Geometry, seg *ring.Segment, own *mapping, fence bool, links map[int]*link) (*end, error) {
	s := ring.Setup{Name: Name, Rank: cfg.Rank, Size: cfg.Size, Ranks: cfg.Local}
	e := &end{maps: []*mapping{own}, remotes: make([]remote, cfg.Size)}
	s.Move = e.move
	e.shared.init(cfg)
	for _, l := range links {
		fence = fence && l.fence
		if reachable(l.pid) {
			r := remote{pid: l.pid, life: hold(l.pid, l.conn)}
			e.remotes[l.rank] = r
			if r.life >= 0 { // not closed before nobody can look at it any more
				runtime.AddCleanup(e, func(fd int) { _ = unix.Close(fd) }, r.life)
			}
		}
	}
	for i, rank := range cfg.Local {
		peer := seg
		if rank == cfg.Rank {
			s.Self = i
		} else {
			var err error
			l := links[rank]
			if peer, err = ring.AttachSegment(l.mem.mem, g, rank); err != nil {
				return nil, fmt.Errorf("shm: rank %d: %w", cfg.Rank, err)
			}
			e.maps, e.conns = append(e.maps, l.mem), append(e.conns, l.conn)
		}
		s.Segments, s.Bells = append(s.Segments, peer), append(s.Bells, bell{fence})
	}
	var err error
	if e.Endpoint, err = ring.NewEndpoint(s); err != nil {
		return nil, err
	}
	for _, l := range links {
		e.wg.Go(func() { watch(e.Endpoint, &e.shared, l.rank, l.conn) })
	}
	return e, nil
}

// watch waits, in the runtime's poller, for the end of the connection to a peer, and takes the memory that it
// registers.
func watch(e *ring.Endpoint, sh *shared, peer int, c *net.UnixConn) {
	reason, detail := conduit.ErrPeerDied, ""
	for {
		b, f, err := receivePacket(c)
		if errors.Is(err, unix.ECONNRESET) {
			// The peer left without reading what was sent to it; its own last words may still be there.
			continue
		}
		if errors.Is(err, unix.EMFILE) {
			sh.miss(peer, err)
			continue
		}
		if err != nil {
			break
		}
		if string(b) == farewell {
			reason = conduit.ErrPeerClosed
		}
		if f != nil {
			sh.take(peer, b, f)
		}
		if reason == conduit.ErrPeerClosed {
			break
		}
	}
	e.Fail(peer, reason, detail)
	sh.lost[peer].Store(true)
}

// Close implements conduit.Conduit. The shared memory is given back at once, the addresses when the conduit is garbage.
func (e *end) Close() error {
	e.close.Do(func() { e.err = e.shut() })
	return e.err
}

func (e *end) shut() error {
	err := e.Endpoint.Close()
	for i := range e.shared.lost {
		e.shared.lost[i].Store(true)
	}
	for _, c := range e.conns {
		// A peer that is gone already cannot be told.
		_ = sendPacket(c, []byte(farewell), nil)
		err = errors.Join(err, c.Close())
	}
	e.wg.Wait()
	for _, m := range append(e.maps, e.shared.close()...) {
		err = errors.Join(err, m.detach())
		runtime.AddCleanup(e, (*mapping).unmap, m)
	}
	return err
}

// bell sleeps in the kernel, on a word in shared memory.
type bell struct{ fence bool }

// Fence implements ring.Bell.
func (b bell) Fence() bool { return b.fence && futex.Membarrier() }

// Wait implements ring.Bell.
func (b bell) Wait(word *atomic.Uint32, d time.Duration) { futex.Wait(word, 1, d) }

// Ring implements ring.Bell.
func (b bell) Ring(word *atomic.Uint32) { futex.Wake(word, 1) }
