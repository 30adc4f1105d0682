package udp_test

import (
	"bytes"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/comm/conduit/udp"
	"github.com/golci/golci/comm/conduit/udp/mmsg"
	"github.com/golci/golci/comm/conduit/udp/seal"
	"github.com/golci/golci/comm/conduit/udp/udptest"
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

// TestBlackHole: where large datagrams vanish on the way, smaller ones are found to be right; when they pass again, they are used again.
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
			n := cs[0].BulkSend(1, 1, int64(off), data[off:])
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
	for end := time.Now().Add(time.Minute); holes[0].longest.Load() < 40000; send(4 << 10) {
		if time.Now().After(end) {
			t.Fatalf("the hole is gone, and datagrams still have %d bytes", holes[0].longest.Load())
		}
		time.Sleep(10 * time.Millisecond)
	}
	send(1 << 20)
	for _, c := range cs {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
