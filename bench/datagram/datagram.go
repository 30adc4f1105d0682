// Package datagram measures the system's UDP between two cores, through the sockets of the UDP conduit
// (internal/transport/udp/mmsg). There is nothing above them: no numbers, acknowledgements, encryption or matching. It
// is the raw limit of what messages over UDP can reach on one machine.
package datagram

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golci/golci/internal/platform/affinity"
	"github.com/golci/golci/internal/transport/udp/mmsg"
)

// ErrStalled says that a datagram was waited for in vain, ErrSize that a datagram cannot be that long.
var (
	ErrStalled = errors.New("datagram: nothing comes any more")
	ErrSize    = errors.New("datagram: bad size")
)

const (
	looks    = 1 << 10 // polls between two looks at the clock
	patience = 10 * time.Second
	slots    = 32 // datagrams that one call receives at most
)

// pair is two sockets on the loopback interface, each with a core of its own.
type pair struct {
	a, b mmsg.Socket
	end  atomic.Bool // tells the far side to return
}

func open(o mmsg.Options) (*pair, error) {
	p := new(pair)
	var err error
	if p.a, err = mmsg.Open(netip.MustParseAddrPort("127.0.0.1:0"), o); err != nil {
		return nil, fmt.Errorf("datagram: %w", err)
	}
	if p.b, err = mmsg.Open(netip.MustParseAddrPort("127.0.0.1:0"), o); err != nil {
		return nil, fmt.Errorf("datagram: %w", errors.Join(err, p.a.Close()))
	}
	return p, nil
}

func (p *pair) close() error { return errors.Join(p.a.Close(), p.b.Close()) }

// run runs near and far at the same time, each on a core if there are two. near's end ends far.
func (p *pair) run(near, far func() error) error {
	var wg sync.WaitGroup
	var errs [2]error
	start := func(i int, f func() error) {
		wg.Go(func() {
			if errs[i] = bind(i); errs[i] == nil {
				errs[i] = f()
			}
			p.end.Store(true)
		})
	}
	start(1, far)
	start(0, near)
	wg.Wait()
	return errors.Join(errs[:]...)
}

// bind gives the calling goroutine a thread of its own on the i-th core, as golci run does with a rank. The thread
// is never unlocked, so it ends with the goroutine and the binding with it.
func bind(i int) error {
	cpus := affinity.Get()
	if len(cpus) < 2 {
		return nil
	}
	runtime.LockOSThread()
	if err := affinity.Set(cpus[i]); err != nil {
		return fmt.Errorf("datagram: %w", err)
	}
	return nil
}

// receive spins until something has come; 0 when the measurement is over.
func (p *pair) receive(s mmsg.Socket, in []mmsg.Datagram) (int, error) {
	for w := (wait{}); ; {
		n, err := s.Recv(in)
		if err != nil || n > 0 || p.end.Load() {
			return n, err
		}
		if err := w.spin(); err != nil {
			return 0, err
		}
	}
}

func (p *pair) send(s mmsg.Socket, batch []mmsg.Datagram) error {
	for w := (wait{}); len(batch) > 0; {
		n, err := s.Send(batch)
		if err == nil && n == 0 {
			err = w.spin()
		}
		if err != nil {
			return err
		}
		batch = batch[n:]
	}
	return nil
}

// wait is one for a socket, which is an error after a while.
type wait struct {
	spins int
	since time.Time // of the first look at the clock
}

func (w *wait) spin() error {
	if w.spins++; w.spins%looks != 0 {
		return nil
	}
	if w.since.IsZero() {
		w.since = time.Now()
	}
	if d := time.Since(w.since); d > patience {
		return fmt.Errorf("%w: waited %v", ErrStalled, d)
	}
	return nil
}

// PingPong sends one datagram of size bytes there and back, both sides spinning, for at least d, and returns the time
// of one way. It blocks, and occupies two cores. Errors: ErrSize, ErrStalled, ctx's and the system's.
func PingPong(ctx context.Context, size int, d time.Duration) (oneWay time.Duration, err error) {
	if size < 0 || size > mmsg.MaxPayload {
		return 0, fmt.Errorf("%w: %d bytes, want 0 to %d", ErrSize, size, mmsg.MaxPayload)
	}
	p, err := open(mmsg.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	near := func() (err error) {
		oneWay, err = p.ping(ctx, size, d)
		return err
	}
	err = p.run(near, func() error { return p.pong(size) })
	return oneWay, err
}

// ping makes a round trip for warming up and then counts those of the time d.
func (p *pair) ping(ctx context.Context, size int, d time.Duration) (time.Duration, error) {
	out, in := buffers(1, size), buffers(1, size)
	out[0].Addr = p.b.Info().Addr
	var start time.Time
	for trips := 0; ; trips++ {
		if trips == looks {
			start = time.Now() // what came before was to warm up
		}
		if err := p.send(p.a, out); err != nil {
			return 0, err
		}
		n, err := p.receive(p.a, in)
		if err != nil || n == 0 || in[0].N != size {
			return 0, errors.Join(err, fmt.Errorf("%w: %d datagrams, the first of %d bytes, want one of %d", ErrStalled, n, in[0].N, size))
		}
		if trips > looks && trips%looks == 0 {
			if took := time.Since(start); took >= d || ctx.Err() != nil {
				return took / time.Duration(2*(trips-looks+1)), ctx.Err()
			}
		}
	}
}

func (p *pair) pong(size int) error {
	in := buffers(1, size)
	for {
		n, err := p.receive(p.b, in)
		if n == 0 || err != nil {
			return err
		}
		back := mmsg.Datagram{Buf: in[0].Buf[:in[0].N], Addr: p.a.Info().Addr}
		if err := p.send(p.b, []mmsg.Datagram{back}); err != nil {
			return err
		}
	}
}

func buffers(n, size int) []mmsg.Datagram {
	b := make([]mmsg.Datagram, n)
	for i := range b {
		b[i].Buf = make([]byte, size)
	}
	return b
}
