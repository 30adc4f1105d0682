package receivepool

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"go.uber.org/goleak"
)

var seedFlag = flag.Uint64("receivepool.seed", 0, "replay the random tests from this seed")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func dice(t *testing.T) *rand.Rand {
	s := *seedFlag
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("replay with -receivepool.seed=%d", s)
		}
	})
	return rand.New(rand.NewPCG(s, 0))
}

// pattern is the data of the i-th entry.
func pattern(i, n int) []byte { return bytes.Repeat([]byte{byte(i), byte(i >> 8), byte(n)}, n/3+1)[:n] }

// TestLoanIsRoom: all credits are out all the time, in records of all lengths. The credits of each served record are
// spent at once. Nothing is refused, and no more buffers are made than the credits pay for.
func TestLoanIsRoom(t *testing.T) {
	r := dice(t)
	for _, longest := range []int{64, 1000, 8448, 70000} {
		const credits = 3000
		s := ShapeFor(credits, longest)
		p := New(s, 0, 0)
		left, serial, served := s.Credits, 0, 0
		var sizes []int
		for range 60000 {
			n := 8 + r.IntN(longest-7)
			if r.IntN(3) > 0 {
				n = 256 // as much as a credit pays for
			}
			n = min(n, longest)
			for cost := (n + 255) / 256; left < cost; {
				var e Entry
				if !p.Pop(AM, &e) || !bytes.Equal(e.Data, pattern(served, sizes[served])) {
					t.Fatalf("longest %d: entry %d is not what was put in", longest, served)
				}
				left += (sizes[served] + 255) / 256
				p.Release(AM, sizes[served])
				served++
			}
			left -= (n + 255) / 256
			if !p.Admit(AM, n) {
				t.Fatalf("longest %d: record %d of %d bytes is refused with %d credits left", longest, serial, n, left)
			}
			p.Push(AM, &Entry{Src: int32(serial % 7), Data: pattern(serial, n)})
			sizes = append(sizes, n)
			serial++
		}
		if p.Memory() > s.Bytes() {
			t.Errorf("longest %d: %d bytes of buffers, the credits pay for %d", longest, p.Memory(), s.Bytes())
		}
	}
}

// TestSurplus: rounding up to whole buffers leaves room. Credits tells it, and it is really there. With a buffer less
// the credits would not fit.
func TestSurplus(t *testing.T) {
	for credits := 1; credits < 200_000; credits = credits*3/2 + 1 {
		for _, longest := range []int{64, 1024, 16640, 1 << 20} {
			s := ShapeFor(credits, longest)
			if usable := s.Buffer - longest - eventBytes - 7; s.Credits < credits || s.Credits*CreditBytes > (s.Buffers-1)*usable+7 ||
				(s.Buffers-2)*usable/CreditBytes >= credits && s.Buffers > 2 {
				t.Errorf("%d credits of records up to %d bytes: %+v", credits, longest, s)
			}
		}
	}
}

// TestOverflow: a peer that spends more credits than there are is refused. Nobody else is, once there is room again.
func TestOverflow(t *testing.T) {
	p := New(ShapeFor(100, 1000), 3000, 5000)
	least := Rooms{SYS: 4, SAFE: 2, AM: 25}
	for q := range Bulk {
		n := 0
		for p.Admit(q, 1000) {
			p.Push(q, &Entry{Data: pattern(n, 1000)})
			n++
		}
		if room, used := p.Room(); n < least[q] || used[q] != n*Size(1000) || used[q]+Size(1000) <= room[q] {
			t.Fatalf("queue %d: %d records, %d of %d bytes", q, n, used[q], room[q])
		}
		var e Entry
		p.Pop(q, &e)
		p.Release(q, 1000)
		if !p.Admit(q, 1000) || p.Admit(q, 1000) {
			t.Errorf("queue %d: the room of one record is not the room of one record", q)
		}
	}
	if p := New(Shape{Buffer: leastBuffer}, 0, 0); !p.Admit(AM, 1<<20) || !p.Admit(SYS, 1<<20) {
		t.Error("a pool without bound refuses")
	}
}

// TestQueues: each queue keeps its own order, pieces of bulk data are divided and lose nothing, and buffers are used
// again.
func TestQueues(t *testing.T) {
	r := dice(t)
	p := New(Shape{Buffer: leastBuffer}, 0, 0)
	data := make([]byte, 1<<20)
	for i := range data {
		if data[i] = byte(r.Uint32()); i >= 900_000 {
			data[i] = data[i-900_000]
		}
	}
	var in, out [Queues]int
	most := 0 // buffers with entries, at once
	for range 2000 {
		q := Queue(r.IntN(int(Queues)))
		if p.Len(q) < 100 {
			if q == Bulk {
				k := r.IntN(65536)
				p.Push(q, &Entry{Src: 9, ID: 77, Off: int64(in[q]), Data: data[in[q]%900_000:][:k]})
				in[q] += k
			} else {
				p.Push(q, &Entry{Src: int32(q), Data: pattern(in[q], 8+in[q]%900)})
				in[q]++
			}
		}
		most = max(most, inUse(p))
		for range r.IntN(4) {
			take(t, p, Queue(r.IntN(int(Queues))), &out, data)
		}
	}
	for q := range Queues {
		for take(t, p, q, &out, data) {
			continue
		}
	}
	if in != out {
		t.Errorf("in %v, out %v", in, out)
	}
	if p.made != most {
		t.Errorf("%d buffers were made, and at most %d had entries at once", p.made, most)
	}
	for q := range p.queues {
		if l := p.queues[q]; l.oldest != nil || l.newest != nil || l.n != 0 {
			t.Errorf("queue %d is empty and has %+v", q, l)
		}
	}
}

// inUse is how many buffers have entries.
func inUse(p *Pool) int {
	n := 0
	for q := range p.queues {
		for b := p.queues[q].oldest; b != nil; b = b.next {
			n++
		}
	}
	return n
}

func take(t *testing.T, p *Pool, q Queue, out *[Queues]int, data []byte) bool {
	var e Entry
	if !p.Pop(q, &e) {
		return false
	}
	switch {
	case q == Bulk:
		if at := out[q] % 900_000; e.Src != 9 || e.ID != 77 || e.Off != int64(out[q]) || len(e.Data) == 0 || e.Data[0] != data[at] {
			t.Fatalf("a piece of %d at %d from %d, want one at %d", e.ID, e.Off, e.Src, out[q])
		}
		out[q] += len(e.Data)
	default:
		if e.Src != int32(q) || !bytes.Equal(e.Data, pattern(out[q], 8+out[q]%900)) {
			t.Fatalf("queue %d: entry %d is not what was put in", q, out[q])
		}
		out[q]++
	}
	return true
}

func TestNoAllocation(t *testing.T) {
	p := New(ShapeFor(100, 1000), 0, 0)
	e := Entry{Data: make([]byte, 200)}
	var got Entry
	if n := testing.AllocsPerRun(2000, func() {
		for q := range Queues {
			p.Push(q, &e)
			p.Pop(q, &got)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestMemoryOfManyRanks: a rank among 10,000 that lends 4 credits to each, as the default table has it, in records of
// up to 1 KiB.
func TestMemoryOfManyRanks(t *testing.T) {
	s := ShapeFor(9999*4, 1024)
	t.Logf("%d buffers of %d bytes: %.1f MB for %d credits, %d of them for the bank", s.Buffers, s.Buffer, float64(s.Bytes())/1e6, s.Credits,
		s.Credits-9999*4)
	if s.Bytes() > 12.6e6 {
		t.Errorf("%d bytes", s.Bytes())
	}
	if p := New(s, 0, 0); p.Memory() != 0 {
		t.Error("memory before anything came")
	}
}

func FuzzBulk(f *testing.F) {
	f.Add(uint16(1), uint16(65535), uint16(300))
	f.Fuzz(func(t *testing.T, a, b, c uint16) {
		p := New(Shape{Buffer: leastBuffer}, 0, 0)
		data := pattern(3, 1<<16)
		want := 0
		for _, n := range []uint16{a, b, c} {
			p.Push(Bulk, &Entry{ID: 5, Off: int64(want), Data: data[:n]})
			want += int(n)
		}
		var e Entry
		got := 0
		for p.Pop(Bulk, &e) {
			if e.ID != 5 || e.Off != int64(got) {
				t.Fatalf("a piece at %d, want %d", e.Off, got)
			}
			got += len(e.Data)
		}
		if got != want {
			t.Fatalf("%d of %d bytes", got, want)
		}
	})
}
