package datagram

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/golci/golci/internal/transport/udp/mmsg"
)

// Shape is how a stream's bytes are cut.
type Shape struct {
	Size     int // bytes of a datagram
	Segments int // datagrams that the kernel is handed as one, to split and to join; 1: none
}

// String names the shape.
func (s Shape) String() string {
	if s.Segments > 1 {
		return fmt.Sprintf("datagrams of %d bytes, %d at once", s.Size, s.Segments)
	}
	return fmt.Sprintf("datagrams of %d bytes", s.Size)
}

// Shapes are those that Best tries.
var Shapes = []Shape{{1400, 46}, {8192, 7}, {32 << 10, 1}, {60 << 10, 1}, {mmsg.MaxPayload, 1}}

// Best streams in each of Shapes that the kernel knows for d and returns the greatest rate in bytes per second, and its
// shape. It blocks, and occupies two cores. Errors: ErrStalled, ctx's and the system's.
func Best(ctx context.Context, d time.Duration) (rate float64, shape Shape, err error) {
	for _, s := range Shapes {
		got, err := Stream(ctx, s, d)
		if errors.Is(err, mmsg.ErrNoGSO) {
			continue
		}
		if err != nil {
			return 0, s, err
		}
		if got > rate {
			rate, shape = got, s
		}
	}
	return rate, shape, nil
}

const (
	buffered  = 8 << 20 // asked of the kernel for each socket
	under     = 4 << 20 // bytes under way at most, of which the kernel counts more than the datagrams have
	overhead  = 2 << 10 // of a datagram, in that count
	joined    = 1 << 16 // room for what the kernel joins
	batchSize = 1 << 20 // bytes handed over at once

	overdue  = 200 * time.Millisecond // without a datagram: those under way are lost
	mostOffs = 20
)

// flow is one stream. At most window bytes are under way, so that the kernel drops none.
type flow struct {
	*pair
	shape  Shape
	window int64
	came   atomic.Int64 // bytes, written by the receiver
	sent   int64        // bytes that have come or may yet; the sender's, as is offs
	offs   int          // how often datagrams were written off
}

// Stream sends datagrams of one shape as fast as the receiver, which spins, takes them, for at least d, and returns
// bytes per second. It blocks, and occupies two cores. Errors: mmsg.ErrNoGSO where the kernel does not split and
// join, ErrSize, ErrStalled, ctx's and the system's.
func Stream(ctx context.Context, s Shape, d time.Duration) (rate float64, err error) {
	if s.Size < 1 || s.Segments < 1 || s.Segments > mmsg.MaxSegments || s.Size*s.Segments > mmsg.MaxPayload {
		return 0, fmt.Errorf("%w: %v", ErrSize, s)
	}
	p, err := open(mmsg.Options{RecvBuffer: buffered, SendBuffer: buffered, GRO: s.Segments > 1})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if i := p.b.Info(); s.Segments > 1 && (!i.GSO || !i.GRO) {
		return 0, mmsg.ErrNoGSO
	}
	whole := s.Size * s.Segments
	f := &flow{pair: p, shape: s, window: p.window(whole)}
	near := func() (err error) {
		rate, err = f.source(ctx, d)
		return err
	}
	err = p.run(near, f.sink)
	return rate, err
}

// window is the number of bytes that may be under way, in packets of whole bytes. It is what the receiver's grant
// holds: the kernel allocates memory in steps of powers of 2, and grants half of what it says.
func (p *pair) window(whole int) int64 {
	granted := min(under, p.b.Info().RecvBuffer/4)
	return int64(max(2, granted/(whole+overhead)) * whole)
}

func (f *flow) source(ctx context.Context, d time.Duration) (float64, error) {
	whole := f.shape.Size * f.shape.Segments
	out := buffers(max(1, min(slots, batchSize/whole, int(f.window)/2/whole)), whole)
	for i := range out {
		out[i].Addr = f.b.Info().Addr
		if f.shape.Segments > 1 {
			out[i].Segment = f.shape.Size
		}
	}
	batch := int64(len(out) * whole)
	start, warm := time.Now(), int64(0)
	for n := 0; ; n++ {
		if err := f.await(f.sent + batch - f.window); err != nil {
			return 0, err
		}
		if err := f.send(f.a, out); err != nil {
			return 0, err
		}
		f.sent += batch
		if n == slots {
			start, warm = time.Now(), f.came.Load()
		}
		came, took := f.came.Load()-warm, time.Since(start)
		if n > slots && (took >= d && came > 0 || ctx.Err() != nil) {
			return float64(came) / took.Seconds(), errors.Join(ctx.Err(), f.await(f.sent))
		}
	}
}

// await spins until so many bytes have come. The kernel may still drop datagrams, and need not tell. So overdue ones
// are written off; the time spent waiting for them counts. Again and again it is an error.
func (f *flow) await(bytes int64) error {
	var since time.Time
	last := f.came.Load()
	for i := 1; f.came.Load() < bytes; i++ {
		if i%looks != 0 {
			continue
		}
		if f.end.Load() {
			return fmt.Errorf("%v: %w: the receiver has failed", f.shape, ErrStalled)
		}
		now, came := time.Now(), f.came.Load()
		if since.IsZero() || came > last {
			since, last = now, came
		}
		if now.Sub(since) > overdue {
			return f.writeOff()
		}
	}
	return nil
}

func (f *flow) writeOff() error {
	if f.offs++; f.offs > mostOffs {
		return fmt.Errorf("%v: %w: %d bytes of %d came, %d datagrams lost", f.shape, ErrStalled, f.came.Load(), f.sent, f.b.Dropped())
	}
	f.sent = f.came.Load()
	return nil
}

func (f *flow) sink() error {
	room := f.shape.Size
	if f.shape.Segments > 1 {
		room = joined
	}
	in := buffers(slots, room)
	for {
		n, err := f.receive(f.b, in)
		if n == 0 || err != nil {
			return err
		}
		sum := 0
		for i := range in[:n] {
			sum += in[i].N
		}
		f.came.Store(f.came.Load() + int64(sum))
	}
}
