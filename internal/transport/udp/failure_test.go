package udp_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/udp"
	"github.com/golci/golci/internal/transport/udp/mmsg"
)

// frail is a job whose silent ranks soon are dead.
var frail = udptest.Job{KeepAlive: 50 * time.Millisecond, DeadAfter: 300 * time.Millisecond, Linger: 100 * time.Millisecond}

// valve is a socket through which nothing passes, either way, while it is shut.
type valve struct {
	udp.Wire
	shut atomic.Bool
}

func (v *valve) Send(batch []mmsg.Datagram) (int, error) {
	if v.shut.Load() {
		return len(batch), nil
	}
	return v.Wire.Send(batch)
}

func (v *valve) Recv(batch []mmsg.Datagram) (int, error) {
	n, err := v.Wire.Recv(batch)
	if v.shut.Load() {
		return 0, err
	}
	return n, err
}

// withValves makes a job each of whose ranks can be cut off.
func withValves(t testing.TB, j udptest.Job, n int) ([]conduit.Conduit, []*valve) {
	valves := make([]*valve, n)
	j.Wrap = func(rank int, w udp.Wire) udp.Wire {
		valves[rank] = &valve{Wire: w}
		return valves[rank]
	}
	return j.Open(t, n, conduit.Config{}), valves
}

func closeAll(t testing.TB, cs []conduit.Conduit) {
	t.Helper()
	for i, c := range cs {
		if err := c.Close(); err != nil {
			t.Errorf("close of rank %d: %v", i, err)
		}
	}
}

// tallySink counts what comes from each rank.
type tallySink struct{ from [9]atomic.Int64 }

func (s *tallySink) Record(src int, _ []byte)                  { s.from[src].Add(1) }
func (s *tallySink) Bulk(src int, _ uint64, _ int64, _ []byte) { s.from[src].Add(1) }

// Gone implements conduit.Sink.
func (*tallySink) Gone(int, error) {}

// sendOne sends one record, polling meanwhile; it returns the reason if the peer is dead.
func sendOne(c conduit.Conduit, peer int, s conduit.Sink) error {
	for {
		switch _, st := c.Reserve(peer, conduit.Request, 64); st {
		case conduit.OK:
			c.Commit(peer, 64)
			return nil
		case conduit.Dead:
			return c.Failed(peer)
		}
		c.Poll(16, s)
	}
}

// rounds of all ranks to all, until each has got n records of each other.
func exchangeAll(t testing.TB, cs []conduit.Conduit, n int64) {
	t.Helper()
	var wg sync.WaitGroup
	for i, c := range cs {
		wg.Go(func() {
			s := &tallySink{}
			for range n {
				for p := range cs {
					if p != i {
						if err := sendOne(c, p, s); err != nil {
							t.Errorf("rank %d to rank %d: %v", i, p, err)
							return
						}
					}
				}
			}
			for p := range cs {
				for p != i && s.from[p].Load() < n {
					if err := c.Failed(p); err != nil {
						t.Errorf("rank %d: %v", i, err)
						return
					}
					if c.Poll(16, s) == 0 {
						c.Sleep(time.Second, nil)
					}
				}
			}
		})
	}
	wg.Wait()
}

// awaitDeath polls, with sleeps in between, until peer is dead.
func awaitDeath(c conduit.Conduit, peer int) error {
	for c.Failed(peer) == nil {
		if c.Poll(16, &tallySink{}) == 0 {
			c.Sleep(time.Hour, func() bool { return c.Failed(peer) != nil })
		}
	}
	return c.Failed(peer)
}

func checkDeath(t testing.TB, err error, peer int) {
	t.Helper()
	var pe *conduit.PeerError
	if !errors.Is(err, conduit.ErrPeerDied) || !errors.As(err, &pe) || pe.Peer != peer || !strings.Contains(err.Error(), "silent") {
		t.Errorf("Failed(%d): %v", peer, err)
	}
}

// TestSilentPeer: a rank that is cut off is dead to the others, though none of them sends to it, and they to it; they
// live.
func TestSilentPeer(t *testing.T) {
	for name, n := range map[string]int{"two": 2, "three": 3} {
		t.Run(name, func(t *testing.T) {
			cs, valves := withValves(t, frail, n)
			exchangeAll(t, cs, 10)
			valves[n-1].shut.Store(true)
			var wg sync.WaitGroup
			for i, c := range cs[:n-1] {
				wg.Go(func() {
					err := awaitDeath(c, n-1)
					checkDeath(t, err, n-1)
					t.Logf("rank %d: %v", i, err)
				})
			}
			wg.Wait()
			checkDeath(t, awaitDeath(cs[n-1], 0), 0)
			if _, st := cs[0].Reserve(n-1, conduit.System, 8); st != conduit.Dead {
				t.Errorf("Reserve: %v", st)
			}
			if n, _ := cs[0].BulkSend(n-1, 1, 0, []byte{1}, nil); n != -1 {
				t.Errorf("BulkSend: %d", n)
			}
			exchangeAll(t, cs[:n-1], 10)
			closeAll(t, cs)
		})
	}
}

// TestSilentSender: the same where datagrams are under way that nobody acknowledges, and only one direction is cut,
// by the network.
func TestSilentSender(t *testing.T) {
	j := frail
	j.Faults = "cut=20ms,from=1"
	cs := j.Open(t, 2, conduit.Config{})
	s := &tallySink{}
	var err error
	for err == nil {
		if err = sendOne(cs[0], 1, s); err == nil {
			time.Sleep(time.Millisecond)
			cs[0].Poll(16, s)
			_ = sendOne(cs[1], 0, s) // so that there is traffic to be cut
			cs[1].Poll(16, s)
		}
	}
	checkDeath(t, err, 1)
	closeAll(t, cs)
}

// TestBackInTime: what was sent while a rank was cut off arrives when it is back, in both directions.
func TestBackInTime(t *testing.T) {
	j := udptest.Job{KeepAlive: 50 * time.Millisecond, DeadAfter: time.Minute}
	cs, valves := withValves(t, j, 3)
	exchangeAll(t, cs, 10)
	valves[1].shut.Store(true)
	healed := time.AfterFunc(200*time.Millisecond, func() { valves[1].shut.Store(false) })
	defer healed.Stop()
	exchangeAll(t, cs, 300)
	closeAll(t, cs)
}

// TestBusyRank: a rank that does not poll for several times as long as a silent one would live is answered for by its
// keeper.
func TestBusyRank(t *testing.T) {
	cs := frail.Open(t, 2, conduit.Config{})
	exchangeAll(t, cs, 10)
	s := &tallySink{}
	busy := time.Now().Add(3 * frail.DeadAfter)
	for sent := 0; time.Now().Before(busy); { // rank 1 computes
		if _, st := cs[0].Reserve(1, conduit.Request, 64); st == conduit.OK {
			cs[0].Commit(1, 64)
			sent++
		}
		if cs[0].Poll(16, s) == 0 {
			cs[0].Sleep(time.Millisecond, nil)
		}
		if err := errors.Join(cs[0].Failed(1), cs[1].Failed(0)); err != nil {
			t.Fatal(err)
		}
	}
	for cs[1].Poll(1<<20, s) > 0 {
		continue
	}
	exchangeAll(t, cs, 10)
	closeAll(t, cs)
}

// stopper is a socket whose users can be made to stand still, as a process that is stopped.
type stopper struct {
	udp.Wire
	mu sync.Mutex
}

func (s *stopper) wait() {
	s.mu.Lock()
	defer s.mu.Unlock()
}

func (s *stopper) Send(batch []mmsg.Datagram) (int, error) {
	s.wait()
	return s.Wire.Send(batch)
}

func (s *stopper) Recv(batch []mmsg.Datagram) (int, error) {
	s.wait()
	return s.Wire.Recv(batch)
}

func (s *stopper) Wait(t time.Time) mmsg.Reason {
	r := s.Wire.Wait(t)
	s.wait()
	return r
}

// TestStoppedRank: a rank that was stopped for longer than a silent one lives, finds itself dead to the others, but
// does not take them for dead when it goes on: it has heard nothing because it did not listen.
func TestStoppedRank(t *testing.T) {
	j := frail
	var stop *stopper
	j.Wrap = func(rank int, w udp.Wire) udp.Wire {
		if rank != 1 {
			return w
		}
		stop = &stopper{Wire: w}
		return stop
	}
	cs := j.Open(t, 2, conduit.Config{})
	exchangeAll(t, cs, 10)
	stop.mu.Lock()
	checkDeath(t, awaitDeath(cs[0], 1), 1)
	time.Sleep(frail.DeadAfter)
	stop.mu.Unlock()
	// Rank 0 has not told anything since; rank 1 gives it all the time that it gives any rank.
	s := &tallySink{}
	cs[1].Poll(16, s)
	if err := cs[1].Failed(0); err != nil {
		t.Errorf("rank 1 went on, and at once: %v", err)
	}
	checkDeath(t, awaitDeath(cs[1], 0), 0)
	closeAll(t, cs)
}
