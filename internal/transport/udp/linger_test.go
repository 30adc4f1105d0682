package udp_test

import (
	"errors"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/udp"
	"github.com/golci/golci/internal/transport/udp/mmsg"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// narrow is a socket through which a datagram passes now and then; the others are lost. Its conduit alone calls Send.
type narrow struct {
	udp.Wire
	last time.Time
}

func (n *narrow) Send(batch []mmsg.Datagram) (int, error) {
	for i := range batch {
		if time.Since(n.last) < 20*time.Millisecond {
			continue
		}
		n.last = time.Now()
		if _, err := n.Wire.Send(batch[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(batch), nil
}

// byteSink counts the bytes of bulk.
type byteSink struct {
	tallySink
	bytes int
}

func (s *byteSink) Bulk(_ int, _ uint64, _ int64, b []byte) { s.bytes += len(b) }

// TestCloseOverASlowNetwork: Close goes on as long as the peer acknowledges something now and then, though all of it
// takes longer than Config.Linger.
func TestCloseOverASlowNetwork(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds, which is more than Config.Linger")
	}
	j := udptest.Job{Mode: seal.Trust, Payload: 1300, MinRTO: udptest.BadMinRTO, Linger: time.Second}
	j.Wrap = func(rank int, w udp.Wire) udp.Wire {
		if rank == 0 {
			return &narrow{Wire: w}
		}
		return w
	}
	cs := j.Open(t, 2, conduit.Config{})
	defer func() { closeAll(t, cs) }()
	data := make([]byte, 250_000)
	sent, _ := cs[0].BulkSend(1, 7, 0, data, nil)
	closed := make(chan error, 1)
	go func() { closed <- cs[0].Close() }()
	y := &byteSink{}
	for cs[1].Failed(0) == nil {
		if cs[1].Poll(10, y) <= 0 {
			time.Sleep(time.Millisecond)
		}
	}
	for cs[1].Poll(10, y) > 0 {
		continue
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := cs[1].Failed(0); y.bytes != sent || !errors.Is(err, conduit.ErrPeerClosed) {
		t.Errorf("%d of %d bytes have come: %v", y.bytes, sent, err)
	}
}
