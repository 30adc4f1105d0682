package mesh

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/golci/golci/internal/job/authconn"
)

// peer is a Node's state of a rank that it sends to.
type peer struct {
	rank    int
	watched bool          // by Hold: nothing is sent to it
	gone    atomic.Bool   // for good
	probing atomic.Bool   // a goroutine of Gone is at work
	turn    chan struct{} // holds one token; whoever takes it may use the rest

	number uint64           // of the last message
	addrs  []netip.AddrPort // all that are known; empty until asked for
	proven []netip.AddrPort // the one at which the rank has answered; empty before
	link   *link            // nil: not connected
}

// link is a proven connection that this rank has made.
type link struct {
	raw  net.Conn
	c    *tls.Conn // over raw
	rank int       // that it leads to
	addr netip.AddrPort
}

// answers is how many times Silence an answer may take before the message is repeated over another connection. It is
// more than 1, so that the kernel has found by then whether the machine is there.
const answers = 2

// asks is how many times Silence a probe of Gone may take. That allows for an answer over the present connection and
// for a call that finds the machine silent, with time to spare.
const asks = answers + 2

// retryPause is the time between two tries to reach a rank that is there.
const retryPause = 20 * time.Millisecond

func (n *Node) peerOf(rank int) *peer {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.peers[rank]
	if p == nil {
		p = &peer{rank: rank, turn: make(chan struct{}, 1)}
		p.turn <- struct{}{}
		n.peers[rank] = p
	}
	return p
}

// Send sends b, of at most Config.Most bytes, to rank to, another rank, and returns when that has taken it. It blocks
// the calling goroutine until ctx ends at the latest; the message may then still arrive. Messages to one rank go one
// after the other. A rank that accepts a call or a message but does not answer may be stopped for a while. It is called
// again after Silence, or twice that, until ctx ends. The error then names its address. Errors: ErrGone, net.ErrClosed,
// and those of ctx and of Where.
func (n *Node) Send(ctx context.Context, to int, b []byte) error {
	if to < 0 || to >= n.cfg.Size || to == n.cfg.Rank || len(b) > n.cfg.Most {
		return fmt.Errorf("%w: %d bytes from rank %d to rank %d of %d", errArgument, len(b), n.cfg.Rank, to, n.cfg.Size)
	}
	return n.sendFrame(ctx, n.peerOf(to), uint32(len(b)), b)
}

// Gone reports whether rank is known to be gone. It does not block. Where nothing is known yet, it returns false and
// starts a probe in the background, unless one is under way. A later call returns what the probe has found. For this
// rank itself, and for a number that is no rank, it returns false.
func (n *Node) Gone(rank int) bool {
	if rank < 0 || rank >= n.cfg.Size || rank == n.cfg.Rank {
		return false
	}
	p := n.peerOf(rank)
	if p.gone.Load() {
		return true
	}
	if p.probing.CompareAndSwap(false, true) {
		n.startGo(func() {
			ctx, cancel := context.WithTimeout(n.ctx, asks*n.cfg.Silence) // it shall not keep the turn from messages
			defer cancel()
			_ = n.sendFrame(ctx, p, ping, nil) // notes that the rank is gone
			p.probing.Store(false)
		})
	}
	return false
}

// Hold keeps a connection to another rank open, and sends nothing, until the connection ends or ctx does. It blocks the
// calling goroutine. The error wraps ErrGone if all addresses of the rank refuse the connection, or somebody else is
// there. A single answer of that kind is no proof: whoever can put packets on the way can forge it. Other errors:
// net.ErrClosed at the end of the Node or of ctx, those of Where, and those of a machine that does not answer.
func (n *Node) Hold(ctx context.Context, rank int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(n.ctx, cancel)()
	p := &peer{rank: rank, watched: true}
	if err := n.findPeer(ctx, p); err != nil {
		return err
	}
	t := n.tryAll(ctx, p)
	switch {
	case ctx.Err() != nil:
		return net.ErrClosed
	case t.err != nil && t.verdict == absent:
		return fmt.Errorf("%w: %d: %w", ErrGone, rank, t.err)
	case t.err != nil:
		return t.err
	}
	raw := t.link.raw
	defer n.dropConn(raw)
	if !n.keepConn(raw) {
		return net.ErrClosed
	}
	defer context.AfterFunc(ctx, func() { raw.Close() })()
	if _, err := t.link.c.Read(make([]byte, 1)); errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// sendFrame sends a frame, again on another connection as long as the rank may be there.
func (n *Node) sendFrame(ctx context.Context, p *peer, size uint32, b []byte) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(n.ctx, cancel)()
	select {
	case <-p.turn:
	case <-ctx.Done():
		return n.endedWith(ctx, p, nil)
	}
	defer func() { p.turn <- struct{}{} }()
	if p.gone.Load() {
		return fmt.Errorf("%w: %d", ErrGone, p.rank)
	}
	p.number++
	frame := binary.LittleEndian.AppendUint64(make([]byte, 0, frameFront+len(b)), p.number)
	frame = append(binary.LittleEndian.AppendUint32(frame, size), b...)
	for {
		err := n.trySend(ctx, p, frame)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, ErrGone):
			p.gone.Store(true)
			return err
		case errors.Is(err, errWhere):
			return err
		case !authconn.Pause(ctx, retryPause):
			return n.endedWith(ctx, p, err)
		}
	}
}

// endedWith tells why a send has ended with ctx; last is the last error before.
func (n *Node) endedWith(ctx context.Context, p *peer, last error) error {
	why := ctx.Err()
	if n.ctx.Err() != nil {
		why = net.ErrClosed
	}
	if last != nil {
		return fmt.Errorf("golci: rank %d has not answered rank %d: %w (%w)", p.rank, n.cfg.Rank, why, last)
	}
	return fmt.Errorf("golci: rank %d has not answered rank %d: %w", p.rank, n.cfg.Rank, why)
}

// trySend sends a frame once, over a new connection if there is none. The turn is taken.
func (n *Node) trySend(ctx context.Context, p *peer, frame []byte) error {
	if p.link == nil {
		l, err := n.connectTo(ctx, p)
		if err != nil {
			return err
		}
		if !n.keepConn(l.raw) {
			l.raw.Close()
			return net.ErrClosed
		}
		p.link = l
	}
	usable, err := p.link.exchangeFrame(ctx, answers*n.cfg.Silence, frame)
	if !usable {
		n.dropConn(p.link.raw)
		p.link = nil
	}
	if isSilent(err) {
		n.noteFallen(p.addrs)
		return fmt.Errorf("%w: %d: %w", ErrGone, p.rank, err)
	}
	return err
}

// isSilent says whether a connection has ended because the other machine has acknowledged nothing for too long.
func isSilent(err error) bool {
	return errors.Is(err, syscall.ETIMEDOUT) || errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, syscall.ENETUNREACH)
}

// exchangeFrame sends a frame and waits until it has been taken, for d at most. usable says whether the link can go on.
func (l *link) exchangeFrame(ctx context.Context, d time.Duration, frame []byte) (usable bool, err error) {
	limit := beginStep(l.raw, d)
	stop := context.AfterFunc(ctx, limit.endNow)
	err = l.passFrame(frame)
	switch {
	case !stop():
		usable = false
	case err == nil:
		limit.liftLimit()
		usable = true
	}
	if err != nil {
		err = limit.explainEnd("has been sent a message", l.rank, l.addr, err)
	}
	return usable, err
}

// passFrame is exchangeFrame without its limit.
func (l *link) passFrame(frame []byte) error {
	if _, err := l.c.Write(frame); err != nil {
		return err
	}
	var answer [answerBytes]byte
	if _, err := io.ReadFull(l.c, answer[:]); err != nil {
		return err
	}
	if string(answer[:]) != string(frame[:answerBytes]) {
		return fmt.Errorf("answer %x to frame %x", answer, frame)
	}
	return nil
}
