package boot

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/golci/golci/internal/job/boot/mesh"
)

// Plane carries small messages between the ranks of a job beside the conduit. It serves the end of the job, when
// perhaps nobody polls the conduit. Ranks of one node talk through local sockets, those of other nodes over TCP. TCP
// connections are made when they are needed. Nobody outside the job can open or read them. A Plane costs nothing until
// it is used. A message to a rank that has opened its plane arrives, once; the order is not kept. It is safe for
// concurrent use.
type Plane struct {
	job  *Job
	node *nodePlane
	mesh *mesh.Node // nil when all ranks are on this node

	mu   sync.Mutex // held while take runs, and while the plane is opened
	take func(from int, b []byte)
}

// keyPlane is the key under which a rank's addresses are published.
const keyPlane = "golci.plane"

// defaultPatience is the time for exchanges of a job that was not made by Join.
const defaultPatience = time.Minute

// OpenPlane opens this rank's plane. The plane's goroutines call take for every message, one after the other. take must
// not keep b, nor call Close. Others can reach this rank from now on. A Fence has to lie between the opening and the
// first Send. The plane must be closed.
//
// In a job of several nodes every rank must call it, once, because the ranks exchange their addresses. It then blocks
// the calling goroutine until all have come, for GOLCI_INIT_TIMEOUT at most. at are addresses of this machine to use.
// Without any it uses all by which another machine may reach this one.
//
// Errors: those of the sockets and of Exchange.
func (j *Job) OpenPlane(take func(from int, b []byte), at ...netip.Addr) (*Plane, error) {
	p := &Plane{job: j, take: take}
	if err := p.openParts(at); err != nil {
		if p.node != nil {
			err = errors.Join(err, p.Close())
		}
		return nil, err
	}
	return p, nil
}

// openParts opens both parts. Messages wait meanwhile. If it fails none is taken, because the caller may hold a lock
// that take wants.
func (p *Plane) openParts(at []netip.Addr) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.node, err = openNear(p.job, p.handMessage); err != nil {
		return err
	}
	if len(p.job.LocalRanks) < p.job.Size {
		err = p.openFar(at)
	}
	if err != nil {
		p.take = func(int, []byte) {}
	}
	return err
}

// handMessage gives a message to take, whichever way it has come.
func (p *Plane) handMessage(from int, b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.take(from, b)
}

// openFar opens the way to other nodes.
func (p *Plane) openFar(at []netip.Addr) error {
	j := p.job
	var table *Table[[]netip.AddrPort] // set before the first Send, and not changed
	var err error
	p.mesh, err = mesh.Listen(mesh.Config{
		Rank: j.Rank, Size: j.Size, Key: j.Key, Take: p.handMessage,
		Where: func(ctx context.Context, rank int) ([]netip.AddrPort, error) { return table.entryOf(ctx, rank) },
	}, at...)
	if err != nil {
		return err
	}
	patience := j.patience
	if patience <= 0 {
		patience = defaultPatience
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	far := func(rank int) bool { return !j.Near(rank) }
	table, err = exchangeCircle(ctx, j, keyPlane, p.mesh.Addrs(), mesh.CheckAddrs, far)
	return err
}

func (p *Plane) isNear(rank int) bool { return p.mesh == nil || p.job.Near(rank) }

// Send sends b, of at most maxPlane bytes, to rank to. It blocks the calling goroutine until ctx ends at the latest. To
// a rank of this node it blocks while the queue of that rank is full. To one of another node it blocks until that rank
// has taken the message. Errors: errGone if the rank has closed its plane or died, or if its node is silent;
// errArgument; and those of ctx and the sockets.
func (p *Plane) Send(ctx context.Context, to int, b []byte) error {
	if to < 0 || to >= p.job.Size || len(b) > maxPlane {
		return fmt.Errorf("%w: %d bytes to rank %d of %d", errArgument, len(b), to, p.job.Size)
	}
	if p.isNear(to) {
		return p.node.sendTo(ctx, to, b)
	}
	return p.mesh.Send(ctx, to, b)
}

// Gone says whether rank has closed its plane or died. It does not block. It asks a rank of another node meanwhile, so
// that a later call can tell.
func (p *Plane) Gone(rank int) bool {
	if p.isNear(rank) {
		return p.node.isGone(rank)
	}
	return p.mesh.Gone(rank)
}

// A rank that is watched and cannot be called is called again after watchPause, later less often, down to once in
// watchMost.
const (
	watchPause = 2 * time.Millisecond
	watchMost  = time.Second
)

// Watch calls ended with a rank whose process has ended, or has closed its plane: its machine says that nobody, or
// somebody else, listens at its address. Watch looks after one rank at a time, the next one round the circle for
// which gone is false. It keeps a connection to that rank open, and calls it again when the connection ends, which
// the kernel tells at once. So if all ranks watch, each is watched by one, and an idle rank has nothing to do for it.
// A rank that remains after ended was called with it is watched again. Other nodes count only once one of their ranks
// was reached: a firewall may refuse all such connections. A Fence has to lie between the opening of the planes and
// the call. Watch blocks the calling goroutine until ctx ends, the plane is closed, or all ranks are gone.
func (p *Plane) Watch(ctx context.Context, gone func(rank int) bool, ended func(rank int)) {
	met := false // one of another node: so the network lets connections through, and a refusal says something
	for d, wait := 1, watchPause; d < p.job.Size; {
		rank := (p.job.Rank + d) % p.job.Size
		if gone(rank) {
			d, wait = d+1, watchPause
			continue
		}
		begun := time.Now()
		err := p.holdRank(ctx, rank)
		met = met || err == nil && !p.isNear(rank)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case errors.Is(err, errGone) && (met || p.isNear(rank)):
			ended(rank)
		case err == nil && time.Since(begun) > wait:
			wait = watchPause
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
			wait = min(2*wait, watchMost)
		}
	}
}

// holdRank keeps a connection to a rank open until it ends. The error wraps errGone if the rank cannot be there, and
// net.ErrClosed if the plane is closed or ctx has ended.
func (p *Plane) holdRank(ctx context.Context, rank int) error {
	if p.isNear(rank) {
		return p.node.holdRank(ctx, rank)
	}
	return p.mesh.Hold(ctx, rank)
}

// Close closes the plane, ends pending calls, and waits until take has returned.
func (p *Plane) Close() error {
	err := p.node.closePlane()
	if p.mesh != nil {
		err = errors.Join(err, p.mesh.Close())
	}
	return err
}
