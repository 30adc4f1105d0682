package udp_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/udp"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// streams are two ranks that send each other records of random sizes as fast as they can, and bulk data beside; all
// of it has a checksum, and records come once each.
type streams struct {
	t    testing.TB
	ends [2]*stream
}

// stream is one rank: what it sends and what it has got. Of its goroutine while run runs.
type stream struct {
	t    testing.TB
	c    *udp.Conduit
	peer int
	rng  *rand.Rand
	data []byte

	sent, got, bulk int64
	next            uint64          // all records with smaller numbers have come
	early           map[uint64]bool // and these
}

func newStreams(t testing.TB, cs []*udp.Conduit) *streams {
	s := &streams{t: t}
	for i := range s.ends {
		s.ends[i] = &stream{t: t, c: cs[i], peer: 1 - i, rng: rand.New(rand.NewPCG(7, uint64(i))), data: make([]byte, 64<<10), early: map[uint64]bool{}}
	}
	return s
}

// run has each send n records more, and take as many.
func (s *streams) run(n int64) {
	var wg sync.WaitGroup
	for _, e := range s.ends {
		wg.Go(func() { e.run(n) })
	}
	wg.Wait()
}

func (e *stream) run(n int64) {
	for goal, limit := e.got+n, e.sent+n; e.got < goal || e.sent < limit; {
		if err := e.c.Failed(e.peer); err != nil {
			e.t.Errorf("rank %d: %v", 1-e.peer, err)
			return
		}
		if e.t.Failed() { // what was wrong may have been counted, or not
			return
		}
		moved := false
		for e.sent < limit && e.send() {
			moved = true
		}
		if e.c.Poll(64, e) <= 0 && !moved {
			e.c.Sleep(time.Millisecond, nil)
		}
	}
}

// send sends a record, if there is room: number, checksum, bytes made of the number.
func (e *stream) send() bool {
	n := 24 + e.rng.IntN(200)
	if e.rng.IntN(50) == 0 {
		n = 24 + e.rng.IntN(8000)
	}
	b, st := e.c.Reserve(e.peer, conduit.Request, n)
	if st != conduit.OK {
		return false
	}
	binary.LittleEndian.PutUint64(b[8:], uint64(e.sent))
	for i := 24; i < n; i++ {
		b[i] = byte(uint64(i) * uint64(e.sent+1))
	}
	binary.LittleEndian.PutUint64(b[16:], uint64(crc32.ChecksumIEEE(b[24:n])))
	e.c.Commit(e.peer, uint64(n))
	e.sent++
	if e.sent%100 == 0 {
		for i := range e.data[:8] {
			e.data[i] = byte(e.sent >> (8 * i))
		}
		e.c.BulkSend(e.peer, uint64(e.sent), 0, e.data, nil)
	}
	return true
}

// Record implements conduit.Sink.
func (e *stream) Record(src int, rec []byte) {
	if src != e.peer || len(rec) < 24 || uint64(crc32.ChecksumIEEE(rec[24:])) != binary.LittleEndian.Uint64(rec[16:]) {
		e.t.Errorf("rank %d: a record of %d bytes from rank %d is damaged", 1-e.peer, len(rec), src)
		return
	}
	switch number := binary.LittleEndian.Uint64(rec[8:]); {
	case number < e.next || e.early[number]:
		e.t.Errorf("rank %d: record %d came twice", 1-e.peer, number)
	default:
		e.early[number] = true
	}
	for e.early[e.next] {
		delete(e.early, e.next)
		e.next++
	}
	e.got++
}

// Bulk implements conduit.Sink.
func (e *stream) Bulk(src int, id uint64, off int64, b []byte) {
	if src != e.peer || off < 0 || off+int64(len(b)) > int64(len(e.data)) || off == 0 && len(b) >= 8 && binary.LittleEndian.Uint64(b) != id {
		e.t.Errorf("rank %d: %d bytes at %d of transfer %d from rank %d", 1-e.peer, len(b), off, id, src)
	}
	if rest := b[min(max(8-int(off), 0), len(b)):]; bytes.Count(rest, []byte{0}) != len(rest) {
		e.t.Errorf("rank %d: %d bytes at %d of transfer %d from rank %d are damaged", 1-e.peer, len(b), off, id, src)
	}
	e.bulk += int64(len(b))
}

// Gone implements conduit.Sink.
func (*stream) Gone(int, error) {}

// TestDamage: whatever the mode and the size of datagrams, what is damaged on the way is not delivered; it comes again.
func TestDamage(t *testing.T) {
	for _, mode := range []seal.Mode{seal.Encrypt, seal.Authenticate, seal.Trust} {
		for _, payload := range []int{0, wanPayload} {
			t.Run(fmt.Sprintf("%v/payload=%d", mode, payload), func(t *testing.T) {
				j := udptest.Job{Mode: mode, Faults: "corrupt=0.05,truncate=0.02,seed=3", MinRTO: udptest.BadMinRTO, Payload: payload}
				cs := j.OpenUDP(t, 2, conduit.Config{})
				newStreams(t, cs).run(3000)
				for i, c := range cs {
					s := c.Stats()
					if bad := s.Seal.Damaged + s.Seal.Forged; bad == 0 || s.Malformed != 0 {
						t.Errorf("rank %d: %+v", i, s)
					}
				}
				for _, c := range cs { // what comes from a rank that has closed counts as malformed
					if err := c.Close(); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

// soakVar is for how long TestSoak runs.
const soakVar = "SOAK"

// TestSoak: two ranks at full rate over a network that loses some: everything comes right, and memory does not grow.
// SOAK=10m asks for ten minutes.
func TestSoak(t *testing.T) {
	long := 5 * time.Second
	switch s := os.Getenv(soakVar); {
	case s != "":
		var err error
		if long, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	case testing.Short():
		long = time.Second
	}
	j := udptest.Job{Faults: "loss=0.02,dup=0.01,reorder=0.02,seed=1", MinRTO: udptest.BadMinRTO, Payload: wanPayload}
	cs := j.OpenUDP(t, 2, conduit.Config{})
	s := newStreams(t, cs)
	const round = 2000
	for range 5 { // windows and inboxes grow
		s.run(round)
	}
	before, most := heap(), uint64(0)
	told := time.Now()
	for end := told.Add(long); time.Now().Before(end) && !t.Failed(); {
		s.run(round)
		if time.Since(told) > long/10 {
			told = time.Now()
			now := heap()
			most = max(most, now)
			t.Logf("%d records, %d MB of bulk, heap %d KiB", s.ends[0].got+s.ends[1].got, (s.ends[0].bulk+s.ends[1].bulk)>>20, now>>10)
		}
	}
	if most > before+8<<20 {
		t.Errorf("the heap has grown from %d to %d bytes", before, most)
	}
	for _, c := range cs {
		t.Logf("%+v", c.Stats())
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
