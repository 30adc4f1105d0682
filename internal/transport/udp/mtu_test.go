package udp_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/udp"
	"github.com/golci/golci/internal/transport/udp/mmsg"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// hole swallows what is longer than it lets through, and tells nobody.
type hole struct {
	udp.Wire
	most             atomic.Int64
	longest, dropped atomic.Int64
}

func (h *hole) Send(batch []mmsg.Datagram) (int, error) {
	for i := range batch {
		d := &batch[i]
		n := len(d.Buf) + len(d.Tail)
		if d.Segment > 0 {
			n = d.Segment
		}
		if int64(n) > h.most.Load() {
			h.dropped.Add(1)
			continue
		}
		h.longest.Store(max(h.longest.Load(), int64(n)))
		if _, err := h.Wire.Send(batch[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(batch), nil
}

// refuser is a system that refuses what is longer than it takes.
type refuser struct {
	udp.Wire
	most int
}

func (r refuser) Send(batch []mmsg.Datagram) (int, error) {
	for i := range batch {
		n := max(batch[i].Segment, 0)
		if n == 0 {
			n = len(batch[i].Buf) + len(batch[i].Tail)
		}
		if n > r.most {
			return i, mmsg.ErrTooBig
		}
		if _, err := r.Wire.Send(batch[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(batch), nil
}

// TestTheSystemSaysLittle: the system says of a path that it takes small datagrams only. Where that is false, as
// somebody may have it said, all data arrive; where it is true, too, or else the peer is given up with an error that
// says why.
func TestTheSystemSaysLittle(t *testing.T) {
	for _, mode := range []seal.Mode{seal.Encrypt, seal.Trust} {
		for _, c := range []struct {
			says, takes int
			arrives     bool
		}{
			{1200, 1200, true},
			{576 - 28, 576 - 28, true},
			{552 - 28, 1472, true},
			{524 - 28, 1472, true},
			{68 - 28, 1472, true},
			{0, 1472, true},
			{524 - 28, 524 - 28, false},
			{68 - 28, 68 - 28, false},
			{0, 1, false},
		} {
			t.Run(fmt.Sprintf("%v/says=%d/takes=%d", mode, c.says, c.takes), func(t *testing.T) {
				j := udptest.Job{Mode: mode, Linger: 100 * time.Millisecond, Payload: 1472}
				j.Wrap = func(_ int, w udp.Wire) udp.Wire { return refuser{w, c.takes} }
				j.Says = func(netip.AddrPort) (int, error) { return c.says, nil }
				if c.takes >= 1472 { // it was said before the start
					j.Payload = c.says
				}
				cs := j.Open(t, 2, conduit.Config{})
				data := bytes.Repeat([]byte{7}, 100<<10)
				s := &counter{}
				var err error
				for off := 0; (off < len(data) || s.bytes < len(data)) && err == nil; err = cs[0].Failed(1) {
					n, _ := cs[0].BulkSend(1, 1, int64(off), data[off:], nil)
					off += max(n, 0)
					cs[0].Poll(16, s)
					cs[1].Poll(16, s)
				}
				if c.arrives != (err == nil) || err != nil && (!errors.Is(err, conduit.ErrUnreachable) || !strings.Contains(err.Error(), "MTU is too small")) {
					t.Errorf("%d bytes of %d came: %v", s.bytes, len(data), err)
				}
				closeAll(t, cs)
			})
		}
	}
}

// TestOnlySmallOnesPass: a path whose MTU is less than what serves, and nobody tells. The peer is given up, though it
// is heard.
func TestOnlySmallOnesPass(t *testing.T) {
	// After a silence of two KeepAlive the count of lost packets begins anew. A busy machine must not make such a
	// silence.
	j := udptest.Job{
		KeepAlive: 200 * time.Millisecond, DeadAfter: 500 * time.Millisecond,
		Linger: 100 * time.Millisecond,
	}
	j.Wrap = func(_ int, w udp.Wire) udp.Wire {
		h := &hole{Wire: w}
		h.most.Store(400)
		return h
	}
	cs := j.Open(t, 2, conduit.Config{})
	s := &tallySink{}
	data := make([]byte, 4000)
	for off := 0; off < len(data) && cs[0].Failed(1) == nil; {
		n, _ := cs[0].BulkSend(1, 1, int64(off), data[off:], nil)
		off += max(n, 0)
		cs[0].Poll(16, s)
	}
	go func() {
		for cs[1].Failed(0) == nil {
			cs[1].Poll(16, s)
			cs[1].Sleep(time.Millisecond, nil)
		}
	}()
	if err := awaitDeath(cs[0], 1); !errors.Is(err, conduit.ErrUnreachable) || !strings.Contains(err.Error(), "does not get through") {
		t.Error(err)
	}
	closeAll(t, cs)
}

// TestBlackHole: where large datagrams vanish on the way, smaller ones are found to be right; when they pass again,
// they are used again.
func TestBlackHole(t *testing.T) {
	holes := make([]*hole, 2)
	j := udptest.Job{Mode: seal.Encrypt, MinRTO: time.Millisecond}
	j.Wrap = func(i int, w udp.Wire) udp.Wire {
		holes[i] = &hole{Wire: w}
		holes[i].most.Store(1500)
		return holes[i]
	}
	cs := j.Open(t, 2, conduit.Config{})
	send := func(size int) {
		data := bytes.Repeat([]byte{7}, size)
		s := &counter{}
		for off := 0; off < size || s.bytes < size; {
			n, _ := cs[0].BulkSend(1, 1, int64(off), data[off:], nil)
			if n < 0 {
				t.Fatal(cs[0].Failed(1))
			}
			off += n
			cs[0].Poll(16, s)
			cs[1].Poll(16, s)
		}
	}
	send(1 << 20)
	if n := holes[0].longest.Load(); n < 1000 || n > 1500 || holes[0].dropped.Load() == 0 {
		t.Errorf("datagrams of %d bytes pass a hole of 1500", n)
	}
	holes[0].most.Store(1 << 16)
	for holes[0].longest.Load() < 40000 { // probes come seldom, and more so while the machine is busy
		time.Sleep(10 * time.Millisecond)
		send(4 << 10)
	}
	send(1 << 20)
	for _, c := range cs {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
