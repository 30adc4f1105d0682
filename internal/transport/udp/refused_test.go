package udp_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/udp"
	"github.com/golci/golci/internal/transport/udp/mmsg"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// mortal is the socket of a process that can be killed.
type mortal struct {
	udp.Wire
	dead atomic.Bool
}

func (m *mortal) kill() {
	m.dead.Store(true)
	_ = m.Wire.Close()
}

// Wait keeps what is left of the process from spinning.
func (m *mortal) Wait(deadline time.Time) mmsg.Reason {
	if m.dead.Load() {
		time.Sleep(5 * time.Millisecond)
		return mmsg.Timeout
	}
	return m.Wire.Wait(deadline)
}

// patient is a job in which silence says nothing for long.
func patient(j udptest.Job) udptest.Job {
	j.KeepAlive, j.DeadAfter, j.Linger = 5*time.Minute, 10*time.Minute, 100*time.Millisecond
	return j
}

// mortals opens a job whose ranks can be killed, as far as the system tells of it.
func mortals(t *testing.T, j udptest.Job, n int) ([]conduit.Conduit, []*mortal) {
	t.Helper()
	ms := make([]*mortal, n)
	j.Wrap = func(rank int, w udp.Wire) udp.Wire {
		ms[rank] = &mortal{Wire: w}
		return ms[rank]
	}
	cs := j.Open(t, n, conduit.Config{})
	if !ms[0].Info().Refusals {
		closeAll(t, cs)
		t.Skip("this system does not tell of datagrams that come back")
	}
	return cs, ms
}

// awaitAll waits until all ranks but peer know that it is dead, and nobody else is.
func awaitAll(t *testing.T, cs []conduit.Conduit, peer int) {
	t.Helper()
	start := time.Now()
	var wg sync.WaitGroup
	for i, c := range cs {
		if i == peer {
			continue
		}
		wg.Go(func() {
			err := awaitDeath(c, peer)
			t.Logf("rank %d after %v: %v", i, time.Since(start).Round(time.Millisecond), err)
			if !errors.Is(err, conduit.ErrPeerDied) || !strings.Contains(err.Error(), "nobody is there") {
				t.Errorf("rank %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	for i, c := range cs {
		for p := range cs {
			if err := c.Failed(p); i != peer && p != peer && err != nil {
				t.Errorf("rank %d takes rank %d for dead: %v", i, p, err)
			}
		}
	}
}

// TestKilledPeer: a rank whose process ends without a word is dead to all others once one has sent something to it,
// long before it has been silent for too long.
func TestKilledPeer(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks int
		job   udptest.Job
	}{
		{"encrypt", 3, udptest.Job{}},
		{"authenticate", 3, udptest.Job{Mode: seal.Authenticate}},
		{"trust", 3, udptest.Job{Mode: seal.Trust}},
		{"v6", 3, udptest.Job{Addr: "[::1]:0"}},
		{"two", 2, udptest.Job{}},
		{"two connected", 2, udptest.Job{Connect: true}},
		{"nine", 9, udptest.Job{}}, // of whom seven have it from others
		{"loss", 3, udptest.Job{Faults: "loss=0.3", MinRTO: udptest.BadMinRTO}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.job.Addr != "" && !hasIPv6() {
				t.Skip("no IPv6 here")
			}
			cs, ms := mortals(t, patient(c.job), c.ranks)
			exchangeAll(t, cs, 10)
			ms[1].kill()
			sendTo(t, cs[0], 1)
			awaitAll(t, cs, 1)
			closeAll(t, cs)
		})
	}
}

func sendTo(t *testing.T, c conduit.Conduit, peer int) {
	t.Helper()
	if err := sendOne(c, peer, &tallySink{}); err != nil {
		t.Error(err)
	}
}

func hasIPv6() bool {
	s, err := mmsg.Open(netip.MustParseAddrPort("[::1]:0"), mmsg.Options{})
	return err == nil && s.Close() == nil
}

// TestKilledBeforeAWord: a rank that is killed before anything has come from it, or gone to it.
func TestKilledBeforeAWord(t *testing.T) {
	cs, ms := mortals(t, patient(udptest.Job{}), 9)
	ms[8].kill()
	sendTo(t, cs[3], 8)
	awaitAll(t, cs, 8)
	closeAll(t, cs)
}

// TestSuspect: a rank that is dead, as one other rank is told, is dead to all soon. All are quiet, and no datagram
// comes back. Nobody suspects itself.
func TestSuspect(t *testing.T) {
	const ranks, dead = 9, 5
	ms := make([]*mortal, ranks)
	j := patient(udptest.Job{Sockets: mmsg.Options{Portable: true}})
	j.Wrap = func(rank int, w udp.Wire) udp.Wire {
		ms[rank] = &mortal{Wire: w}
		return ms[rank]
	}
	cs := j.Open(t, ranks, conduit.Config{})
	if ms[0].Info().Refusals {
		t.Fatal("these sockets should not tell what comes back")
	}
	suspect := func(rank, peer int) { cs[rank].(conduit.Suspecter).Suspect(peer) }
	exchangeAll(t, cs, 2)
	ms[dead].kill()
	suspect(4, 4)
	suspect(4, dead)
	awaitAll(t, cs, dead)
	suspect(4, dead) // once more
	closeAll(t, cs)
}

// liar is a socket whose system claims that datagrams have come back which the peer has received.
type liar struct {
	*tap
	lies func(batch []mmsg.Datagram, seen [][]byte) int
	told atomic.Int64
	recv atomic.Int64
}

func (l *liar) Recv(batch []mmsg.Datagram) (int, error) {
	n, err := l.tap.Recv(batch)
	if err == nil && l.recv.Add(1)%3 == 0 {
		err = mmsg.ErrRefused
	}
	return n, err
}

func (l *liar) Refused(batch []mmsg.Datagram) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.lies(batch, l.seen)
	l.told.Add(int64(n))
	return n
}

// TestForgedRefusals: whoever says that datagrams have come back kills no rank that lives, whether he has seen them or
// not. What they say is not taken in if they have not.
func TestForgedRefusals(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for _, mode := range []seal.Mode{seal.Encrypt, seal.Trust} {
		for _, seen := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v/seen=%v", mode, seen), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 0))
				var peer netip.AddrPort
				var l *liar
				// A rank of a busy machine may need long for an answer. One that did not answer would be dead soon enough.
				j := patient(udptest.Job{Mode: mode, AskEvery: 100 * time.Millisecond})
				j.Wrap = func(rank int, w udp.Wire) udp.Wire {
					if rank == 1 {
						peer = w.Info().Addr
						return w
					}
					l = &liar{tap: &tap{Wire: w}, lies: func(batch []mmsg.Datagram, heads [][]byte) int { return forged(r, batch, heads, seen, peer) }}
					return l
				}
				cs := j.OpenUDP(t, 2, conduit.Config{})
				ends := []conduit.Conduit{cs[0], cs[1]}
				for range 20 {
					exchangeAll(t, ends, 20)
					for end := time.Now().Add(20 * time.Millisecond); time.Now().Before(end); {
						cs[0].Sleep(5*time.Millisecond, nil)
						cs[0].Poll(16, &tallySink{})
					}
				}
				if s := cs[0].Stats(); l.told.Load() == 0 || seen != (s.Returned > 0) {
					t.Errorf("%d lies were told, %d were believed", l.told.Load(), s.Returned)
				}
				closeAll(t, ends)
			})
		}
	}
}

// forged makes up what has come back: datagrams that were seen, or only what can be guessed of them.
func forged(r *rand.Rand, batch []mmsg.Datagram, heads [][]byte, seen bool, peer netip.AddrPort) int {
	if len(heads) == 0 {
		return 0
	}
	for i := range batch {
		d := &batch[i]
		d.N, d.Addr = copy(d.Buf, heads[r.IntN(len(heads))]), peer
		switch {
		case seen:
		case r.IntN(2) == 0:
			d.N = r.IntN(seal.HeaderSize) // what routers quote at least says nothing of the datagram
		case r.IntN(2) == 0:
			d.Addr = netip.AddrPortFrom(peer.Addr(), peer.Port()+1)
		case r.IntN(2) == 0:
			binary.BigEndian.PutUint64(d.Buf, r.Uint64())
		default:
			binary.BigEndian.PutUint32(d.Buf[8+4*r.IntN(2):], r.Uint32())
		}
	}
	return len(batch)
}

// TestRefusedAtTheStart: a rank begins before the port of another is open. Its datagrams come back, and nobody dies.
func TestRefusedAtTheStart(t *testing.T) {
	socks := make([]mmsg.Socket, 2)
	peers := make([]udp.Peer, 2)
	open := func(rank int, at netip.AddrPort) {
		s, err := mmsg.Open(at, mmsg.Options{Refusals: true})
		if err != nil {
			t.Fatal(err)
		}
		socks[rank] = s
		peers[rank] = udp.Peer{Life: udptest.Life(rank), Public: udptest.Public(rank), Paths: []udp.Path{{Addr: s.Info().Addr, Payload: mmsg.MaxPayload}}}
	}
	open(0, loopback)
	open(1, loopback)
	later := socks[1].Info().Addr
	if err := socks[1].Close(); err != nil {
		t.Fatal(err)
	}
	begin := func(rank int) *udp.Conduit {
		c, err := udp.New(udp.Config{
			Rank: rank, Size: 2, Key: []byte(udptest.Key), Private: udptest.Private(rank), Wire: socks[rank], Peers: peers,
			KeepAlive: 5 * time.Minute, DeadAfter: 10 * time.Minute,
		})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	a := begin(0)
	s := &tallySink{}
	if err := sendOne(a, 1, s); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); a.Stats().Returned == 0; a.Poll(16, s) {
		if !socks[0].Info().Refusals || time.Now().After(end) {
			break
		}
	}
	open(1, later)
	b := begin(1)
	for s.from[0].Load() == 0 && b.Failed(0) == nil && a.Failed(1) == nil {
		a.Poll(16, s)
		b.Poll(16, s)
	}
	exchangeAll(t, []conduit.Conduit{a, b}, 10)
	closeAll(t, []conduit.Conduit{a, b})
}
