package conformance

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"runtime"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
)

// A test record is: first word (length, and a tag in the high half), then as much as fits of serial (8 bytes), checksum
// of the rest (8 bytes), and bytes derived from the serial.

// patience is after how long without progress a test is given up. The whole machine may stand still for a minute.
const patience = 3 * time.Minute

// sink checks what arrives.
type sink struct {
	t     testing.TB
	recs  []got // in order of arrival
	bulk  map[bulkKey][]byte
	each  func(g got)
	chunk func(src int, id uint64, off int64, b []byte)
	// scattered: pieces come in any order; sizes is how much has.
	scattered bool
	sizes     map[bulkKey]int
	gone      map[int]error // by peer, what Gone has said
}

type got struct {
	src, size int
	tag       uint32
	serial    uint64
}

type bulkKey struct {
	src int
	id  uint64
}

func (s *sink) Record(src int, rec []byte) {
	s.alive(src, "a record")
	g, err := decode(src, rec)
	if err != nil {
		s.t.Errorf("record of %d bytes from %d: %v", len(rec), src, err)
	}
	if s.each != nil {
		s.each(g)
		return
	}
	s.recs = append(s.recs, g)
}

func (s *sink) Bulk(src int, id uint64, off int64, b []byte) {
	s.alive(src, "a chunk")
	if s.chunk != nil {
		s.chunk(src, id, off, b)
		return
	}
	if s.bulk == nil {
		s.bulk = map[bulkKey][]byte{}
	}
	k := bulkKey{src, id}
	if s.scattered {
		s.place(k, off, b)
		return
	}
	if int64(len(s.bulk[k])) != off {
		s.t.Errorf("chunk of %d/%d at %d, want %d", src, id, off, len(s.bulk[k]))
	}
	s.bulk[k] = append(s.bulk[k], b...)
}

func (s *sink) Gone(peer int, err error) {
	s.alive(peer, "another Gone")
	if s.gone == nil {
		s.gone = map[int]error{}
	}
	s.gone[peer] = err
}

// alive checks that a peer has not been told of as gone.
func (s *sink) alive(peer int, what string) {
	if err := s.gone[peer]; err != nil {
		s.t.Errorf("%s of rank %d after Gone: %v", what, peer, err)
	}
}

// place puts a piece where it belongs.
func (s *sink) place(k bulkKey, off int64, b []byte) {
	if s.sizes == nil {
		s.sizes = map[bulkKey]int{}
	}
	for int64(len(s.bulk[k])) < off+int64(len(b)) {
		s.bulk[k] = append(s.bulk[k], make([]byte, off+int64(len(b))-int64(len(s.bulk[k])))...)
	}
	copy(s.bulk[k][off:], b)
	s.sizes[k] += len(b)
}

// have is how many bytes of a transfer have come.
func (s *sink) have(k bulkKey) int {
	if s.scattered {
		return s.sizes[k]
	}
	return len(s.bulk[k])
}

func encode(rec []byte, n int, serial uint64) {
	if n >= 16 {
		binary.LittleEndian.PutUint64(rec[8:], serial)
	}
	if n < 24 {
		return
	}
	fill(rec[24:n], serial)
	binary.LittleEndian.PutUint64(rec[16:], uint64(crc32.ChecksumIEEE(rec[24:n])))
}

func decode(src int, rec []byte) (got, error) {
	first := binary.LittleEndian.Uint64(rec)
	g := got{src: src, size: len(rec), tag: uint32(first >> 32)}
	if int(uint32(first)) != len(rec) {
		return g, fmt.Errorf("first word says %d", uint32(first))
	}
	if len(rec) >= 16 {
		g.serial = binary.LittleEndian.Uint64(rec[8:])
	}
	if len(rec) < 24 {
		return g, nil
	}
	if sum := uint64(crc32.ChecksumIEEE(rec[24:])); sum != binary.LittleEndian.Uint64(rec[16:]) {
		return g, fmt.Errorf("serial %d: checksum %x", g.serial, sum)
	}
	return g, nil
}

// fill writes bytes that depend on seed.
func fill(b []byte, seed uint64) {
	for len(b) >= 8 {
		seed = seed*6364136223846793005 + 1442695040888963407
		binary.LittleEndian.PutUint64(b, seed^seed>>29)
		b = b[8:]
	}
	for i := range b {
		b[i] = byte(seed >> (8 * i))
	}
}

// trySend sends one record without waiting. Half of those that one step can send go so.
func trySend(c conduit.Conduit, peer int, class conduit.Class, n int, tag uint32, serial uint64) conduit.Status {
	l, ok := c.(conduit.Injector)
	if fits := n >= 24 && n <= 24+conduit.InjectBytes; ok && fits && class == conduit.Request && serial%2 == 1 {
		var rec [24 + conduit.InjectBytes]byte
		encode(rec[:], n, serial)
		sum := binary.LittleEndian.Uint64(rec[16:])
		if l.Inject(peer, uint64(tag)<<32|uint64(n), serial, sum, rec[24:n]) {
			return conduit.OK
		}
	}
	space, st := c.Reserve(peer, class, n)
	if st != conduit.OK {
		return st
	}
	encode(space, n, serial)
	c.Commit(peer, uint64(tag)<<32|uint64(n))
	return conduit.OK
}

// send sends one record, polling c with s while there is no room.
func send(t testing.TB, c conduit.Conduit, s conduit.Sink, peer int, class conduit.Class, n int, serial uint64) {
	t.Helper()
	w := newWaiter(t, "room towards rank %d", peer)
	for {
		switch st := trySend(c, peer, class, n, uint32(serial), serial); st {
		case conduit.OK:
			return
		case conduit.Dead:
			t.Fatalf("rank %d to %d: dead: %v", c.Rank(), peer, c.Failed(peer))
		}
		if c.Poll(16, s) <= 0 {
			w.pause()
		}
	}
}

// drain polls until want things have come in all since the call.
func drain(t testing.TB, c conduit.Conduit, s conduit.Sink, want int) {
	t.Helper()
	w := newWaiter(t, "%d records at rank %d", want, c.Rank())
	for n := 0; n < want; {
		switch k := c.Poll(16, s); {
		case k > 0:
			n += k
			w = newWaiter(t, "%d more records at rank %d", want-n, c.Rank())
		default:
			w.pause()
		}
	}
}

// pollWhile polls c, n things at a time, as long as cond says so.
func pollWhile(t testing.TB, c conduit.Conduit, s conduit.Sink, n int, cond func() bool, what string, args ...any) {
	t.Helper()
	for w := newWaiter(t, what, args...); cond(); {
		if c.Poll(n, s) <= 0 {
			w.pause()
		}
	}
}

// pollBeside polls c in a goroutine until stop is called.
func pollBeside(c conduit.Conduit, s conduit.Sink) (stop func()) {
	over := make(chan struct{})
	go func() {
		for {
			select {
			case <-over:
				return
			default:
				c.Poll(4, s)
			}
		}
	}()
	return func() { over <- struct{}{} }
}

func checkClose(t testing.TB, c conduit.Conduit) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Errorf("close of rank %d: %v", c.Rank(), err)
	}
}

// waiter gives up with a message when a wait takes too long; it bounds hangs and asserts no timing.
type waiter struct {
	t    testing.TB
	what string
	end  time.Time
	n    int
}

func newWaiter(t testing.TB, format string, args ...any) *waiter {
	return &waiter{t: t, what: fmt.Sprintf(format, args...), end: time.Now().Add(patience)}
}

func (w *waiter) pause() {
	runtime.Gosched()
	if w.n++; w.n%1000 == 0 {
		if time.Now().After(w.end) {
			buf := make([]byte, 1<<16)
			panic(fmt.Sprintf("%s: waited %v for %s\n%s", w.t.Name(), patience, w.what, buf[:runtime.Stack(buf, true)]))
		}
		time.Sleep(50 * time.Microsecond)
	}
}

// rounds is n, or fewer where everything is slow or the caller is in a hurry.
func (t suite) rounds(n int) int {
	few := min(n, 20)
	if invariants.Race || testing.Short() {
		n /= 8
	}
	return max(n/t.slow, few)
}
