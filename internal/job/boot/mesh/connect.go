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
	"syscall"
	"time"

	"github.com/golci/golci/internal/job/authconn"
)

// verdict is what a failed try shows of the rank. Of several addresses the greatest counts, so all must say absent.
type verdict int

const (
	absent   verdict = iota // the machine has answered that nobody listens, or somebody else does
	noAnswer                // nothing was heard from the address
	present                 // somebody listens who may be the rank, and has hung up: it has no room, perhaps
)

// stagger is the time after which the next address is tried beside those under way.
const stagger = 100 * time.Millisecond

// minTries is how many rounds of tries must go unanswered before a machine counts as silent. One round proves nothing:
// its time has also passed when this process, or its own machine, has stood still meanwhile.
const minTries = 2

// errWhere is wrapped by the errors of Config.Where.
var errWhere = errors.New("golci: address unknown")

// connectTo reaches a rank, or finds that it is gone. The turn is taken.
func (n *Node) connectTo(ctx context.Context, p *peer) (*link, error) {
	if err := n.findPeer(ctx, p); err != nil {
		return nil, err
	}
	if n.haveFallen(p.addrs) {
		return nil, fmt.Errorf("%w: %d: its machine has not answered", ErrGone, p.rank)
	}
	begin, refused, unanswered := time.Now(), time.Time{}, 0
	var last error
	for {
		t := n.tryAll(ctx, p)
		step := retryPause
		switch {
		case t.err == nil:
			p.proven = []netip.AddrPort{t.addr}
			return t.link, nil
		case ctx.Err() != nil: // which may have cut this round off: the one before knows more
			return nil, errors.Join(last, t.err)
		case t.verdict != absent:
			refused = time.Time{}
			if t.verdict == noAnswer {
				unanswered++
			}
			if t.verdict == noAnswer && unanswered >= minTries && time.Since(begin) >= n.cfg.Silence {
				n.noteFallen(p.addrs)
				return nil, fmt.Errorf("%w: %d: %w", ErrGone, p.rank, t.err)
			}
		case refused.IsZero():
			refused = time.Now()
			step = n.doubtTime(p) / 4
		case time.Since(refused) >= n.doubtTime(p):
			return nil, fmt.Errorf("%w: %d: %w", ErrGone, p.rank, t.err)
		default:
			step = n.doubtTime(p) / 4
		}
		if !authconn.Pause(ctx, step) {
			return nil, t.err
		}
		last = t.err
	}
}

// findPeer learns the addresses of a rank.
func (n *Node) findPeer(ctx context.Context, p *peer) error {
	if len(p.addrs) > 0 {
		return nil
	}
	addrs, err := n.cfg.Where(ctx, p.rank)
	if err == nil && len(addrs) == 0 {
		err = errors.New("it has published none")
	}
	if err != nil {
		return fmt.Errorf("%w: rank %d: %w", errWhere, p.rank, err)
	}
	p.addrs = byDistance(addrs, n.host)
	return nil
}

// firstDoubt is for how long a rank that has never answered must refuse to be there.
const firstDoubt = time.Second

// doubtTime is for how long all answers must say that a rank is not there before that is believed. Such an answer
// proves nothing: whoever can put packets on the way can forge it. For a rank that has once proved itself it is as long
// as for silence.
func (n *Node) doubtTime(p *peer) time.Duration {
	if len(p.proven) > 0 {
		return n.cfg.Silence
	}
	return min(firstDoubt, n.cfg.Silence)
}

// try is the result for one address.
type try struct {
	addr    netip.AddrPort
	link    *link
	verdict verdict
	err     error
}

// tryAll tries the addresses in turn, the next one when the one before has failed or takes its time. It leaves no
// goroutine.
func (n *Node) tryAll(ctx context.Context, p *peer) try {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	addrs := p.proven
	if len(addrs) == 0 {
		addrs = p.addrs
	}
	tries := make(chan try, len(addrs))
	begun, ended := 0, 0
	next := func() {
		addr := addrs[begun]
		begun++
		go func() { tries <- n.attemptConn(ctx, addr, p) }()
	}
	next()
	ticks := time.NewTicker(stagger)
	defer ticks.Stop()
	var worst try
	for ended < len(addrs) {
		var t try
		select {
		case <-ticks.C:
			if begun < len(addrs) {
				next()
			}
			continue
		case t = <-tries:
			ended++
		}
		if t.err == nil {
			cancel()
			for ; ended < begun; ended++ {
				if other := <-tries; other.err == nil {
					other.link.raw.Close()
				}
			}
			return t
		}
		if worst.err == nil || t.verdict > worst.verdict {
			worst.verdict = t.verdict
		}
		worst.err = errors.Join(worst.err, t.err)
		if begun < len(addrs) {
			next()
		}
	}
	return worst
}

// dialTCP makes a connection to addr. Without an answer it returns before silence is over, so that minTries calls fit.
func dialTCP(ctx context.Context, addr netip.AddrPort, silence time.Duration) (net.Conn, error) {
	d := net.Dialer{
		Timeout: silence / minTries, Control: impatient(silence),
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silence / 4, Interval: silence / 4, Count: 4},
	}
	return d.DialContext(ctx, "tcp", addr.String())
}

// attemptConn makes one connection and asks the other side to prove that it is rank p. The proof takes Silence at most.
// A process that has taken over the port may accept and say nothing, and so may a stopped rank.
func (n *Node) attemptConn(ctx context.Context, addr netip.AddrPort, p *peer) try {
	raw, err := n.cfg.dial(ctx, addr, n.cfg.Silence)
	if err != nil {
		return try{addr: addr, verdict: judgeDial(err), err: err}
	}
	limit := beginStep(raw, n.cfg.Silence)
	stop := context.AfterFunc(ctx, limit.endNow)
	c, err := n.openCall(raw, p)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		raw.Close()
		return try{addr: addr, verdict: judgeCall(err), err: limit.explainEnd("has taken the call", p.rank, addr, err)}
	}
	limit.liftLimit()
	return try{addr: addr, link: &link{raw: raw, c: c, rank: p.rank, addr: addr}}
}

// openCall opens the conversation on a new connection.
func (n *Node) openCall(raw net.Conn, p *peer) (*tls.Conn, error) {
	c, err := n.id.Call(raw, 0)
	if err != nil {
		return nil, err
	}
	hello := binary.LittleEndian.AppendUint32(nil, uint32(n.cfg.Rank))
	called := uint32(p.rank)
	if p.watched {
		called |= watches
	}
	if _, err := c.Write(binary.LittleEndian.AppendUint32(hello, called)); err != nil {
		return nil, err
	}
	var answer [4]byte
	if _, err := io.ReadFull(c, answer[:]); err != nil {
		return nil, err
	}
	if there := binary.LittleEndian.Uint32(answer[:]); there != uint32(p.rank) {
		return nil, fmt.Errorf("%w: rank %d", authconn.ErrStranger, there)
	}
	return c, nil
}

// judgeDial is the verdict for a failed dial.
func judgeDial(err error) verdict {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return absent
	}
	for _, ours := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EAGAIN} {
		if errors.Is(err, ours) {
			return present // as far as is known: the try has failed on this side
		}
	}
	return noAnswer
}

// judgeCall is the verdict for a failed conversation.
func judgeCall(err error) verdict {
	switch {
	case authconn.IsStranger(err):
		return absent
	case isSilent(err):
		return noAnswer
	}
	return present
}
