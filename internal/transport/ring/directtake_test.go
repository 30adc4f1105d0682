package ring

import (
	"encoding/binary"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/conduit"
)

// acceptor accepts records whose second word is want, and counts; as a sink it takes them all.
type acceptor struct {
	want uint64
	seen []uint64
}

func (a *acceptor) Accept(_ int, rec []byte) bool {
	v := binary.LittleEndian.Uint64(rec[8:])
	if v != a.want {
		return false
	}
	a.seen = append(a.seen, v)
	return true
}

func (a *acceptor) Record(_ int, rec []byte) {
	a.seen = append(a.seen, binary.LittleEndian.Uint64(rec[8:]))
}

func (a *acceptor) Bulk(int, uint64, int64, []byte) {}

// Gone implements conduit.Sink.
func (*acceptor) Gone(int, error) {}

// TestTakeInOrder takes records of several lengths many times round a ring. Each comes once, in order, and its room is
// free again. Every third record is refused first, and then polled.
func TestTakeInOrder(t *testing.T) {
	g, err := NewGeometry(conduit.Config{Loan: 4, MaxRecord: 512, ReplySpace: 512}, 2)
	if err != nil {
		t.Fatal(err)
	}
	var head atomic.Uint64
	data := conduit.HeapMemory(g.Cap)
	p := newProducer(data, &head, &g)
	c := Consumer{data: data, head: &head, g: &g, src: 1}
	a := new(acceptor)
	if c.takeNext(a) {
		t.Fatal("took from an empty ring")
	}
	const records = 2000
	for i := uint64(0); i < records; i++ {
		n := 16 + int(i*40%300)
		rec := p.reserveBytes(conduit.Request, n)
		if rec == nil {
			t.Fatalf("record %d: no room", i)
		}
		binary.LittleEndian.PutUint64(rec[8:], i)
		p.publishOpen(uint64(n), false)
		a.want = i
		if i%3 == 0 {
			if a.want = records; c.takeNext(a) {
				t.Fatalf("record %d: taken for another", i)
			}
			if n, _, ok := c.poll(9, a); n != 1 || !ok {
				t.Fatalf("record %d: polled %d, %v", i, n, ok)
			}
		} else if !c.takeNext(a) { // behind a pad, which is left to poll
			if n, _, ok := c.poll(9, a); n != 1 || !ok || c.off.Load() > 512 {
				t.Fatalf("record %d: polled %d, %v", i, n, ok)
			}
		}
		if c.isReady() || c.published != p.tail {
			t.Fatalf("record %d: ready %v, %d of %d bytes reported", i, c.isReady(), c.published, p.tail)
		}
	}
	for i, v := range a.seen {
		if v != uint64(i) {
			t.Fatalf("record %d is %d", i, v)
		}
	}
	if len(a.seen) != records {
		t.Errorf("%d records", len(a.seen))
	}
}

// TestTakeRefusesNonsense: a length that cannot be is left to poll, which reports it.
func TestTakeRefusesNonsense(t *testing.T) {
	g, err := NewGeometry(conduit.Config{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, first := range []uint64{1, 7, uint64(g.MaxRecord + 1), 1<<31 - 1, 1 << 31, 1<<32 - 1} {
		var head atomic.Uint64
		c := Consumer{data: conduit.HeapMemory(g.Cap), head: &head, g: &g}
		c.wordAt(0).Store(first)
		if a := new(acceptor); c.takeNext(a) || len(a.seen) > 0 || head.Load() != 0 {
			t.Errorf("length %#x taken", first)
		}
	}
}
