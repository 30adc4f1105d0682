package gasnettest

import (
	"bytes"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/am"
)

const hFlood = 60

// floodEach is how many messages each ordered pair has.
const floodEach = 1200 / raceSlower

const (
	floodSplit = 100 // every so many is a split Long
	splitBytes = 40 << 10
	splitMore  = 3000 // split Longs differ by up to so much
)

// message is what one message of a flood is: it follows from the seed, the pair, and the number in the pair.
type message struct {
	args    []uint64
	payload []byte
	long    bool
	off     int64
}

// flooder is a rank's state in the flood.
type flooder struct {
	r        *rank
	ordered  bool
	from     []source
	received atomic.Int64
}

// source is what has come from one rank. The poller's.
type source struct {
	seen [floodEach]bool
	next int
}

func (f *flooder) segmentFor(src int) int64 { return int64(src) * segmentPerPair }

const segmentPerPair = 16<<10 + (floodEach/floodSplit)*(splitBytes+splitMore)

func mix(x uint64) uint64 {
	x ^= x >> 31
	x *= 0x7fb5d329728ea185
	x ^= x >> 27
	x *= 0x81dadef4bc2dd44d
	return x ^ x>>33
}

// message makes the k-th message of rank src to rank dst.
func (f *flooder) message(src, dst, k int) (m message) {
	h := mix(f.r.j.seed ^ uint64(src)<<40 ^ uint64(dst)<<20 ^ uint64(k))
	m.args = make([]uint64, k%(am.MaxArgs+1))
	for i := range m.args {
		m.args[i] = mix(h + uint64(i))
	}
	max := f.r.e.MaxMedium()
	n := 0
	switch h % 8 {
	case 0: // Short
	case 1, 2, 3, 4:
		n = int(h >> 8 % 300)
	case 5:
		n = max
	default:
		n = int((h >> 8) % uint64(max+1))
	}
	m.off = f.segmentFor(src)
	switch {
	case k%floodSplit == floodSplit-1:
		n = splitBytes + int(h>>8%splitMore)
		m.long = true
		m.off += 16<<10 + int64(k/floodSplit)*(splitBytes+splitMore) // each has its own place
	case h>>60 == 0:
		m.long = true
		n = min(n, max-8) // packed: the handler runs before the next is put there
	}
	m.payload = fill(make([]byte, n), h)
	return m
}

func newFlooder(r *rank) *flooder {
	f := &flooder{r: r, ordered: r.e.Conduit().Caps().Ordered, from: make([]source, r.n)}
	spec := am.Spec{Name: "flood", MaxReply: am.NoReply, Ordered: true, Run: f.arrived}
	if err := r.e.Register(hFlood, spec); err != nil {
		r.t.Fatal(err)
	}
	return f
}

// arrived is the handler. A message knows its number in its pair even without arguments.
func (f *flooder) arrived(t *am.Token, a []uint64, data []byte) {
	r, k, s := f.r, int(t.Seq()), &f.from[t.Source()]
	if k >= floodEach || s.seen[k] {
		r.bad("message %d of rank %d came twice, or was never sent", k, t.Source())
		return
	}
	s.seen[k] = true
	split := k%floodSplit == floodSplit-1 // its handler waits for the payload, and others pass it
	if f.ordered && !split {
		if k < s.next {
			r.bad("message %d of rank %d after %d", k, t.Source(), s.next-1)
		}
		s.next = k + 1
	}
	want := f.message(t.Source(), r.id, k)
	if sum(want.args, want.payload) != sum(a, data) || !bytes.Equal(want.payload, data) {
		r.bad("message %d of rank %d: %d arguments, %d bytes: damaged; %d and %d were sent", k, t.Source(), len(a), len(data), len(want.args), len(want.payload))
	}
	f.received.Add(1)
}

// TestFlood has all ranks send to all, themselves included. Messages have every number of arguments and all sizes.
// Ranks sleep now and then, so nobody polls for them.
func TestFlood(t *testing.T) {
	overAll(t, func(t *testing.T, net network) {
		const n = 3
		spmd(t, net, n, options{segment: n * segmentPerPair}, newFlooder, func(r *rank, f *flooder) error {
			for k := range floodEach {
				for dst := range r.n {
					m := f.message(r.id, dst, k)
					if err := m.send(r.e, dst); err != nil {
						return err
					}
				}
				if r.rng.IntN(200) == 0 {
					time.Sleep(time.Duration(r.rng.IntN(3000)) * time.Microsecond)
				}
			}
			all := int64(r.n * floodEach)
			if err := r.until(func() bool { return f.received.Load() == all }); err != nil {
				return err
			}
			return r.barrier()
		})
	})
}

func (m *message) send(e *am.Endpoint, dst int) error {
	switch {
	case m.long:
		return e.RequestLong(dst, hFlood, m.payload, m.off, m.args...)
	case len(m.payload) == 0:
		return e.RequestShort(dst, hFlood, m.args...)
	}
	return e.RequestMedium(dst, hFlood, m.payload, m.args...)
}
