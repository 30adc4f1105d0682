package boot

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/internal/job/authconn"
)

// nodePlane is the part of a plane that joins the ranks of one node. It has a socket for connections with an abstract
// name, which has no file. A goroutine for it and one for each connection sleep in the Go runtime's poller until
// something arrives. Anybody on the machine can bind such a name when its rank has died, and call it while it lives. So
// both sides ask the kernel for the other's user.
type nodePlane struct {
	job  *Job
	ln   *net.UnixListener
	take func(from int, b []byte)
	wg   sync.WaitGroup // the goroutines

	mu     sync.Mutex
	closed bool              // guarded by mu
	conns  map[net.Conn]bool // in either direction; guarded by mu
	peers  map[int]*nodePeer // ranks that something was sent to; guarded by mu
}

// nodePeer is the way to a rank of this node.
type nodePeer struct {
	turn chan struct{} // holds one token; whoever takes it may use the rest
	conn net.Conn      // nil: none
}

// packets is the kind of the sockets: connections that keep messages apart.
const packets = "unixpacket"

func openNear(j *Job, take func(from int, b []byte)) (*nodePlane, error) {
	ln, err := net.ListenUnix(packets, &net.UnixAddr{Name: planeName(j.Key, j.Rank), Net: packets})
	if err != nil {
		return nil, fmt.Errorf("golci: rank %d: %w", j.Rank, err)
	}
	p := &nodePlane{job: j, ln: ln, take: take, conns: map[net.Conn]bool{}, peers: map[int]*nodePeer{}}
	p.wg.Go(func() {
		authconn.AcceptOwn(ln, p.keepConn, func(c net.Conn) { p.wg.Go(func() { p.readConn(c) }) })
	})
	return p, nil
}

// keepConn notes a connection, unless the plane is closed.
func (p *nodePlane) keepConn(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.conns[c] = true
	}
	return !p.closed
}

// readConn takes the messages of a connection to its end.
func (p *nodePlane) readConn(c net.Conn) {
	buf := make([]byte, planeFront+maxPlane+1)
	for {
		n, err := c.Read(buf)
		if err != nil {
			break
		}
		if from, b, ok := openPacket(p.job.Key, p.job.Rank, p.job.Size, buf[:n]); ok && len(b) <= maxPlane {
			p.take(from, b)
		}
	}
	p.dropConn(c)
}

// dropConn closes a connection and forgets it.
func (p *nodePlane) dropConn(c net.Conn) {
	c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

func (p *nodePlane) peer(rank int) *nodePeer {
	p.mu.Lock()
	defer p.mu.Unlock()
	to := p.peers[rank]
	if to == nil {
		to = &nodePeer{turn: make(chan struct{}, 1)}
		to.turn <- struct{}{}
		p.peers[rank] = to
	}
	return to
}

// sendPause is the time between two tries to call a rank whose queue of callers is full. The kernel wakes nobody for
// that.
const sendPause = 2 * time.Millisecond

// sendTo waits while the queue of rank to is full, until ctx ends.
func (p *nodePlane) sendTo(ctx context.Context, to int, b []byte) error {
	peer := p.peer(to)
	select {
	case <-peer.turn:
	case <-ctx.Done():
		return notTaken(ctx, to)
	}
	defer func() { peer.turn <- struct{}{} }()
	d := sealPacket(p.job.Key, p.job.Rank, to, b)
	for {
		err := p.connectTo(peer, to)
		if err == nil {
			err = p.writeTo(ctx, peer, d)
		}
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return notTaken(ctx, to)
		case errors.Is(err, net.ErrClosed), errors.Is(err, errGone):
			return err
		case errors.Is(err, errBusy):
			authconn.Pause(ctx, sendPause)
		case !errors.Is(err, unix.EPIPE) && !errors.Is(err, unix.ECONNRESET): // with which the rank has hung up
			return err
		}
	}
}

func notTaken(ctx context.Context, to int) error {
	return fmt.Errorf("golci: rank %d does not take messages: %w", to, ctx.Err())
}

// connectTo makes the connection to a rank, unless there is one. The turn is taken.
func (p *nodePlane) connectTo(peer *nodePeer, to int) error {
	if peer.conn != nil {
		return nil
	}
	c, err := p.callRank(to)
	if err != nil {
		return err
	}
	if !p.keepConn(c) {
		c.Close()
		return net.ErrClosed
	}
	peer.conn = c
	return nil
}

// writeTo sends d, and gives the connection up if that fails. The turn is taken.
func (p *nodePlane) writeTo(ctx context.Context, peer *nodePeer, d []byte) error {
	c := peer.conn
	stop := context.AfterFunc(ctx, func() { _ = c.SetWriteDeadline(time.Unix(1, 0)) })
	_, err := c.Write(d)
	if !stop() || err != nil {
		p.dropConn(c)
		peer.conn = nil
	}
	return err
}

// isGone says whether no process of this user has the rank's name. The rank had bound it, so it has then died or closed
// its plane.
func (p *nodePlane) isGone(rank int) bool {
	c, err := p.callRank(rank)
	if err == nil {
		c.Close()
	}
	return errors.Is(err, errGone)
}

// callRank makes a connection to a rank.
func (p *nodePlane) callRank(rank int) (net.Conn, error) {
	c, err := dialAbstract(packets, planeName(p.job.Key, rank))
	if errors.Is(err, errNobody) || errors.Is(err, authconn.ErrUser) {
		return nil, fmt.Errorf("%w: %d: %w", errGone, rank, err)
	}
	return c, err
}

// holdRank keeps a connection to a rank open until it ends, or ctx does. Errors: those of call, and net.ErrClosed if
// this side ends it.
func (p *nodePlane) holdRank(ctx context.Context, rank int) error {
	c, err := p.callRank(rank)
	if err != nil {
		return err
	}
	defer p.dropConn(c)
	if !p.keepConn(c) {
		return net.ErrClosed
	}
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if _, err = c.Read(make([]byte, 1)); errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// closePlane ends pending calls, and waits until take has returned. Sent messages still arrive.
func (p *nodePlane) closePlane() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	err := p.ln.Close()
	for c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
	return err
}
