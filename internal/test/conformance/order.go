package conformance

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
)

// random returns a generator whose seed is printed when the test fails.
func random(t testing.TB) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	if *seedFlag != 0 {
		seed = *seedFlag
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("replay with -conduit.seed=%d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

// tally checks that each source's serials come exactly once, and in order if the conduit says so.
type tally struct {
	t       testing.TB
	ordered bool
	next    map[int]uint64
	seen    map[int]map[uint64]bool
}

func newTally(t testing.TB, c conduit.Conduit) *tally {
	return &tally{t: t, ordered: c.Caps().Ordered, next: map[int]uint64{}, seen: map[int]map[uint64]bool{}}
}

// newTallied is a tally with the sink that tells it.
func newTallied(t testing.TB, c conduit.Conduit) (*tally, *sink) {
	y := newTally(t, c)
	return y, &sink{t: t, each: y.add}
}

func (y *tally) add(g got) {
	if y.ordered {
		if g.serial != y.next[g.src] {
			y.t.Errorf("from %d came %d, want %d", g.src, g.serial, y.next[g.src])
		}
		y.next[g.src] = g.serial + 1
		return
	}
	if y.seen[g.src] == nil {
		y.seen[g.src] = map[uint64]bool{}
	}
	if y.seen[g.src][g.serial] {
		y.t.Errorf("from %d came %d twice", g.src, g.serial)
	}
	y.seen[g.src][g.serial] = true
	y.next[g.src]++
}

// want checks that n records came from src in all.
func (y *tally) want(src, n int) {
	if y.next[src] != uint64(n) {
		y.t.Errorf("%d records from %d, want %d", y.next[src], src, n)
	}
	for s := range y.seen[src] {
		if s >= uint64(n) {
			y.t.Errorf("from %d came %d of %d", src, s, n)
		}
	}
}

func testSizes(t suite, cs []conduit.Conduit) {
	var sizes []int
	for n := 8; n <= cs[0].Caps().MaxRecord; n++ {
		if n > 300 && n < cs[0].Caps().MaxRecord-70 {
			n += 60
		}
		sizes = append(sizes, n)
	}
	var arrived []got
	s := &sink{t: t, each: func(g got) { arrived = append(arrived, g) }}
	for i, n := range sizes {
		pollWhile(t, cs[1], s, 8, func() bool {
			return trySend(cs[0], 1, conduit.Request, n, uint32(i), uint64(i)) != conduit.OK
		}, "room for %d bytes", n)
	}
	drain(t, cs[1], s, len(sizes)-len(arrived))
	seen := make([]bool, len(sizes))
	for _, g := range arrived {
		if int(g.tag) >= len(sizes) || seen[g.tag] || sizes[g.tag] != g.size || g.src != 0 {
			t.Fatalf("unexpected %+v", g)
		}
		seen[g.tag] = true
	}
}

func testSelf(t suite, cs []conduit.Conduit) {
	y, s := newTallied(t, cs[0])
	const total = 500
	for i := range total {
		send(t, cs[0], s, 0, conduit.Request, 8+8*(1+i%40), uint64(i))
	}
	pollWhile(t, cs[0], s, 16, func() bool { return y.next[0] < total }, "own records")
	y.want(0, total)
}

// testAllPairs makes every rank send to every rank, itself included, from several goroutines' worth of classes.
func testAllPairs(t suite, cs []conduit.Conduit) {
	each := t.rounds(2000)
	limit := cs[0].Caps().MaxRecord - 24
	var wg sync.WaitGroup
	for i, c := range cs {
		r := random(t)
		wg.Go(func() {
			y, s := newTallied(t, c)
			for k := range each {
				for p := range cs {
					n := 24 + r.IntN(100)
					if r.IntN(20) == 0 {
						n = 24 + r.IntN(limit)
					}
					send(t, c, s, (i+p)%len(cs), conduit.Class(r.IntN(3)), n, uint64(k))
				}
			}
			pollWhile(t, c, s, 16, func() bool { return total(y) < uint64(each*len(cs)) }, "all records at rank %d", i)
			for p := range cs {
				y.want(p, each)
			}
		})
	}
	wg.Wait()
}

func total(y *tally) (n uint64) {
	for _, k := range y.next {
		n += k
	}
	return n
}

// testWrap drives records of each length over the end of the ring at many places.
func testWrap(t suite, cs []conduit.Conduit) {
	limit := cs[0].Caps().MaxRecord
	for _, n := range []int{24, 64, 72, 128, 200, limit / 2, limit} {
		laps := min(4_000_000/n, t.rounds(6000))
		t.Run(fmt.Sprintf("size=%d", n), func(t *testing.T) {
			y, s := newTallied(t, cs[1])
			for i := range laps {
				pollWhile(t, cs[1], s, 1+i%7, func() bool {
					return trySend(cs[0], 1, conduit.Request, n, 0, uint64(i)) != conduit.OK
				}, "room")
			}
			drain(t, cs[1], s, laps-int(y.next[0]))
			y.want(0, laps)
		})
	}
}

// testReserveAgain reserves without Commit: the next Reserve for the peer takes the place, also with another length.
func testReserveAgain(t suite, cs []conduit.Conduit) {
	y, s := newTallied(t, cs[1])
	const total = 300
	for i := range total {
		pollWhile(t, cs[1], s, 4, func() bool {
			if space, st := cs[0].Reserve(1, conduit.Request, 64+i%200); st == conduit.OK {
				fill(space[conduit.WordBytes:], 99)
			}
			// What was written into the first space must not be taken for a record.
			return trySend(cs[0], 1, conduit.Request, 48, 0, uint64(i)) != conduit.OK
		}, "room")
	}
	drain(t, cs[1], s, total-int(y.next[0]))
	y.want(0, total)
}
