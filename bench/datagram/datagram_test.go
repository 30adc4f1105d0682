package datagram

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/internal/transport/udp/mmsg"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPingPong(t *testing.T) {
	for _, size := range []int{0, 8, 9000, mmsg.MaxPayload} {
		got, err := PingPong(t.Context(), size, time.Millisecond)
		if err != nil || got <= 0 {
			t.Errorf("size %d: %v, %v", size, got, err)
		}
	}
}

func TestStream(t *testing.T) {
	for _, s := range append([]Shape{{8, 1}, {1400, 1}}, Shapes...) {
		got, err := Stream(t.Context(), s, time.Millisecond)
		if s.Segments > 1 && errors.Is(err, mmsg.ErrNoGSO) {
			continue
		}
		if err != nil || got <= 0 {
			t.Errorf("%v: %v bytes a second, %v", s, got, err)
		}
	}
}

func TestBestIsOneOfTheShapes(t *testing.T) {
	rate, s, err := Best(t.Context(), time.Millisecond)
	if err != nil || rate <= 0 || s.Size == 0 || s.String() == "" {
		t.Errorf("%v bytes a second, %v, %v", rate, s, err)
	}
}

func TestBadSizes(t *testing.T) {
	for _, size := range []int{-1, mmsg.MaxPayload + 1} {
		if _, err := PingPong(t.Context(), size, time.Millisecond); !errors.Is(err, ErrSize) {
			t.Errorf("ping-pong of %d bytes: %v", size, err)
		}
	}
	for _, s := range []Shape{{0, 1}, {8, 0}, {8, mmsg.MaxSegments + 1}, {mmsg.MaxPayload + 1, 1}, {1400, 60}} {
		if _, err := Stream(t.Context(), s, time.Millisecond); !errors.Is(err, ErrSize) {
			t.Errorf("%v: %v", s, err)
		}
	}
}

// TestCancelled: a measurement that would take for ever ends, and leaves neither goroutine nor socket.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := PingPong(ctx, 8, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("ping-pong: %v", err)
	}
	if _, err := Stream(ctx, Shape{1400, 1}, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("stream: %v", err)
	}
}

// TestLostDatagramsAreWrittenOff: a stream goes on without them, but not for ever.
func TestLostDatagramsAreWrittenOff(t *testing.T) {
	p, err := open(mmsg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	f := &flow{pair: p, shape: Shape{Size: 100, Segments: 1}}
	f.came.Store(300)
	f.sent = 500
	if err := f.await(500); err != nil || f.sent != 300 {
		t.Errorf("%d bytes are expected still, want 300; %v", f.sent, err)
	}
	f.offs = mostOffs
	if err := f.await(500); !errors.Is(err, ErrStalled) {
		t.Errorf("error %v", err)
	}
}

// TestOneSideFails: the other side must not spin for ever.
func TestOneSideFails(t *testing.T) {
	p, err := open(mmsg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	broken := errors.New("broken")
	for _, f := range [][2]func() error{
		{func() error { return broken }, func() error { return p.pong(8) }},
		{func() error { _, err := p.receive(p.a, buffers(1, 8)); return err }, func() error { return broken }},
	} {
		p.end.Store(false)
		if err := p.run(f[0], f[1]); !errors.Is(err, broken) {
			t.Errorf("error %v", err)
		}
	}
}
