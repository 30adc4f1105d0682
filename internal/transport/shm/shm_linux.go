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

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/futex"
	"github.com/golci/golci/internal/transport/ring"
)

// rankMemory is one rank's ring.Memory.
type rankMemory struct {
	ring    *ring.Endpoint
	maps    []*mapping
	shared  shared                   // memory that ranks have registered
	wg      sync.WaitGroup           // watchers, and what the door starts
	remotes []atomic.Pointer[remote] // by rank; nil until the rank is there
	door    *lateAcceptor            // nil without room for more ranks

	mu    sync.Mutex      // guards conns, and what of shared is told to whom
	conns []*net.UnixConn // to the other local ranks; each has a watcher
}

// New meets the other local ranks and returns the conduit to them; every local rank must call it. It blocks until all
// are there, at most cfg.Timeout, then returns errMissing. Other errors match conduit.ErrConfig or come from the
// kernel. Ranks on other nodes are conduit.ErrUnreachable through it. The words that Mine and Theirs return must not
// be used after the conduit itself has become garbage.
func New(cfg Config) (_ conduit.Conduit, err error) {
	if err := cfg.checkConfig(); err != nil {
		return nil, err
	}
	g, err := ring.NewGeometry(cfg.Conduit, len(cfg.Local))
	if err != nil {
		return nil, err
	}
	x := &exchange{cfg: &cfg, g: g, fence: futex.RegisterMembarrier()}
	if err := x.makeMemory(); err != nil {
		return nil, err
	}
	defer x.releaseFiles()
	links, err := x.runExchange()
	if err != nil {
		return nil, err
	}
	e, err := assemble(x, links)
	if err != nil {
		for _, l := range links {
			l.discardLink()
		}
		return nil, err
	}
	return e.ring, nil
}

// assemble makes the endpoint of the memories and starts the watchers.
func assemble(x *exchange, links map[int]*link) (*rankMemory, error) {
	cfg, fence := x.cfg, x.fence
	e := &rankMemory{remotes: make([]atomic.Pointer[remote], cfg.Size)}
	s := ring.Setup{Name: Name, Rank: cfg.Rank, Size: cfg.Size, Ranks: cfg.Local, Memory: e, Mapped: true}
	e.shared.initShared(cfg)
	for _, l := range links {
		if fence = fence && l.fence; !fence && cfg.hasLateRoom() {
			return nil, fmt.Errorf("shm: rank %d: rank %d takes no part in membarriers, and others do", cfg.Rank, l.rank)
		}
		e.reach(l)
	}
	for i, rank := range cfg.Local {
		if rank == cfg.Rank {
			s.Self = i
		}
		peer, err := x.segment(rank, links[rank])
		if err != nil {
			return nil, fmt.Errorf("shm: rank %d: %w", cfg.Rank, err)
		}
		s.Segments, s.Bells = append(s.Segments, peer), append(s.Bells, bell{fence})
	}
	var err error
	if e.ring, err = ring.NewEndpoint(s); err != nil {
		return nil, err
	}
	e.maps = x.mappings(links)
	for _, l := range links {
		e.conns = append(e.conns, l.conn)
		e.wg.Go(func() { e.watchPeer(l.rank, l.conn) })
	}
	for rank := range x.absent {
		e.ring.Fail(rank, conduit.ErrPeerClosed, "it had ended before this rank started")
	}
	if cfg.hasLateRoom() {
		e.openDoor(x)
	}
	return e, nil
}

// reach looks whether the kernel lets this process copy from and to the memory of a peer.
func (e *rankMemory) reach(l *link) {
	if !reachable(l.pid) {
		return
	}
	r := &remote{pid: l.pid, life: hold(l.pid, l.conn)}
	e.remotes[l.rank].Store(r)
	if r.life >= 0 { // not closed before nobody can look at it any more
		runtime.AddCleanup(e, func(fd int) { _ = unix.Close(fd) }, r.life)
	}
}

// watchPeer waits, in the runtime's poller, for the end of the connection to a peer, and takes the memory that it
// registers.
func (e *rankMemory) watchPeer(peer int, c *net.UnixConn) {
	reason, detail := conduit.ErrPeerDied, ""
	for {
		b, f, err := receivePacket(c)
		if errors.Is(err, unix.ECONNRESET) {
			// The peer left without reading what was sent to it; its own last words may still be there.
			continue
		}
		if errors.Is(err, unix.EMFILE) {
			e.shared.miss(peer, err)
			continue
		}
		if err != nil {
			break
		}
		if string(b) == farewell {
			reason = conduit.ErrPeerClosed
		}
		if f != nil {
			e.shared.takeMemory(peer, b, f)
		}
		if reason == conduit.ErrPeerClosed {
			break
		}
	}
	e.ring.Fail(peer, reason, detail)
	e.shared.lost[peer].Store(true)
}

// Close gives the shared memory back at once, the addresses when the conduit is garbage.
func (e *rankMemory) Close() (err error) {
	for i := range e.shared.lost {
		e.shared.lost[i].Store(true)
	}
	e.door.closeDoor()
	e.mu.Lock()
	conns := e.conns
	e.conns = nil
	e.mu.Unlock()
	for _, c := range conns {
		// A peer that is gone already cannot be told.
		_ = sendPacket(c, []byte(farewell), nil)
		err = errors.Join(err, c.Close())
	}
	e.wg.Wait()
	e.closeDoor()
	for _, m := range append(e.maps, e.shared.closeShared()...) {
		err = errors.Join(err, m.detach())
		runtime.AddCleanup(e, (*mapping).unmap, m)
	}
	return err
}

// bell sleeps in the kernel, on a word in shared memory.
type bell struct{ fence bool }

func (b bell) Fence() bool                               { return b.fence && futex.Membarrier() }
func (b bell) Wait(word *atomic.Uint32, d time.Duration) { futex.Wait(word, 1, d) }
func (b bell) Ring(word *atomic.Uint32)                  { futex.Wake(word, 1) }
