package udp_test

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
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

// tap is a socket that keeps copies of some of what is sent through it, for whom the network shows them.
type tap struct {
	udp.Wire
	mu   sync.Mutex
	seen [][]byte
	at   int
}

const tapped = 64

func (w *tap) Send(batch []mmsg.Datagram) (int, error) {
	w.mu.Lock()
	for _, d := range batch {
		if len(w.seen) < tapped {
			w.seen = append(w.seen, nil)
		}
		n := len(d.Buf)
		if d.Segment > 0 {
			n = min(n, d.Segment)
		}
		w.seen[w.at%len(w.seen)] = append(append(w.seen[w.at%len(w.seen)][:0], d.Buf[:n]...), d.Tail...)
		w.at++
	}
	w.mu.Unlock()
	return w.Wire.Send(batch)
}

// one appends a copy of some datagram to b.
func (w *tap) one(b []byte, r *rand.Rand) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.seen) == 0 {
		return b
	}
	return append(b, w.seen[r.IntN(len(w.seen))]...)
}

// wanPayload is what a datagram holds on most networks.
const wanPayload = 1400

// attacker floods one rank.
type attacker struct {
	t      testing.TB
	sock   mmsg.Socket
	taps   []*tap
	rng    *rand.Rand
	sender *seal.Sender // with a key of another job
	number uint64
	sent   atomic.Uint64
	quit   atomic.Bool
}

func newAttacker(t testing.TB, taps []*tap, seed uint64) *attacker {
	s, err := mmsg.Open(loopback, mmsg.Options{SendBuffer: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	publics := [][]byte{udptest.Public(0), udptest.Public(1)}
	box, err := seal.New(seal.Config{
		Key: []byte("another key of thirty-two bytes."), Private: udptest.Private(1), Publics: publics, Rank: 1, Size: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	sender, err := box.Sender(0)
	if err != nil {
		t.Fatal(err)
	}
	return &attacker{t: t, sock: s, taps: taps, rng: rand.New(rand.NewPCG(seed, 0)), sender: sender}
}

// run sends until quit, in batches.
func (a *attacker) run() {
	defer a.sock.Close()
	target := a.taps[0].Info().Addr
	batch := make([]mmsg.Datagram, 16)
	for !a.quit.Load() {
		for i := range batch {
			batch[i] = mmsg.Datagram{Buf: a.datagram(batch[i].Buf[:0]), Addr: target}
		}
		n, _ := a.sock.Send(batch) // what the system refuses does no harm
		a.sent.Add(uint64(n))
		runtime.Gosched()
	}
}

// datagram makes one of any kind.
func (a *attacker) datagram(b []byte) []byte {
	from := a.taps[a.rng.IntN(len(a.taps))]
	switch a.rng.IntN(7) {
	case 0: // noise
		b = b[:0]
		for range 1 + a.rng.IntN(200) {
			b = binary.LittleEndian.AppendUint64(b, a.rng.Uint64())
		}
	case 1: // replayed; also one that was meant for another rank
		b = from.one(b, a.rng)
	case 2: // cut short
		b = from.one(b, a.rng)
		b = b[:a.rng.IntN(len(b)+1)]
	case 3: // with a bit turned
		if b = from.one(b, a.rng); len(b) > 0 {
			b[a.rng.IntN(len(b))] ^= 1 << a.rng.IntN(8)
		}
	case 4: // huge, with a right beginning
		b = from.one(b, a.rng)
		b = append(b[:min(len(b), 32)], make([]byte, 60_000)...)
	case 5: // of another job
		b = append(b, make([]byte, 100)...)
		a.number++
		if err := a.sender.Seal(b, a.number); err != nil {
			a.t.Error(err)
		}
	case 6: // with a right cookie and ranks, and a number of the future
		if b = from.one(b, a.rng); len(b) >= seal.HeaderSize {
			binary.BigEndian.PutUint64(b[16:], a.rng.Uint64())
		}
	}
	return b
}

// underAttack makes a job of two whose rank 0 is attacked until the result is called, which tells how much came.
func underAttack(t testing.TB, seed uint64) (cs []*udp.Conduit, stop func() uint64) {
	taps := make([]*tap, 2)
	j := udptest.Job{Payload: wanPayload, Wrap: func(rank int, w udp.Wire) udp.Wire {
		taps[rank] = &tap{Wire: w}
		return taps[rank]
	}}
	cs = j.OpenUDP(t, 2, conduit.Config{})
	a := newAttacker(t, taps, seed)
	var done sync.WaitGroup
	done.Go(a.run)
	return cs, func() uint64 {
		a.quit.Store(true)
		done.Wait()
		return a.sent.Load()
	}
}

// heap is what is in use after a collection, in bytes.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestHostile: nothing that strangers send to a rank changes what its peers send and get, or stays in memory, and all
// of it is counted.
func TestHostile(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	cs, stop := underAttack(t, seed)
	streams := newStreams(t, cs)
	total := int64(20_000)
	if testing.Short() {
		total = 4000
	}
	streams.run(total)
	before := heap()
	streams.run(total)
	after := heap()
	sent := stop()
	st := cs[0].Stats()
	t.Logf("%d hostile datagrams sent; rank 0: %+v; heap %d KiB, then %d KiB", sent, st, before>>10, after>>10)
	if after > before+8<<20 {
		t.Errorf("the heap has grown from %d to %d bytes", before, after)
	}
	if s := st.Seal; s.Short == 0 || s.Foreign == 0 || s.Replayed == 0 || s.Forged == 0 || s.Stray == 0 {
		t.Errorf("some kind was not refused: %+v", s)
	}
	if st.Malformed != 0 {
		t.Errorf("%d datagrams were taken for a rank's", st.Malformed)
	}
	for i, c := range cs {
		if err := c.Failed(1 - i); err != nil {
			t.Error(err)
		}
	}
	for _, c := range cs {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// BenchmarkHostile is how many checked records a second two ranks exchange while rank 0 is flooded, and while it is
// not. The attacker takes cycles of the same machine.
func BenchmarkHostile(b *testing.B) {
	for _, attacked := range []bool{false, true} {
		name := "calm"
		if attacked {
			name = "attacked"
		}
		b.Run(name, func(b *testing.B) {
			cs, stop := underAttack(b, 1)
			if !attacked {
				stop()
			}
			s := newStreams(b, cs)
			b.ResetTimer()
			s.run(int64(b.N))
			b.ReportMetric(float64(2*b.N)/b.Elapsed().Seconds(), "records/s")
			b.StopTimer()
			if attacked {
				b.ReportMetric(float64(stop())/b.Elapsed().Seconds(), "hostile/s")
			}
			for _, c := range cs {
				if err := c.Close(); err != nil {
					b.Error(err)
				}
			}
		})
	}
}
