package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/golci/golci/examples/internal/graph"
)

// seeded gives random numbers whose seed is printed when the test fails; GOLCI_TEST_SEED replays one.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if s := os.Getenv("GOLCI_TEST_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("replay with GOLCI_TEST_SEED=%d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

// whole puts the parts of an input together.
func whole(t *testing.T, in input, parts int) (all []edge) {
	t.Helper()
	for part := range parts {
		edges, err := in.Share(part, parts)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, edges...)
	}
	return all
}

// Wherever a file is cut, every line is read once.
func TestReadLinesCut(t *testing.T) {
	random := seeded(t)
	for range 50 {
		var text strings.Builder
		var want []edge
		for range random.IntN(20) {
			switch random.IntN(5) {
			case 0:
				text.WriteString("# comment " + strings.Repeat("x", random.IntN(30)))
			case 1:
			default:
				e := edge{From: random.Uint64() >> random.IntN(64), To: random.Uint64() >> random.IntN(64)}
				fmt.Fprintf(&text, "%d%s%d", e.From, []string{" ", "\t", "  "}[random.IntN(3)], e.To)
				want = append(want, e)
			}
			text.WriteString([]string{"\n", "\r\n"}[random.IntN(2)])
		}
		data := strings.TrimSuffix(text.String(), "\n")
		size := int64(len(data))
		for parts := 1; parts < 12; parts++ {
			var got []edge
			for part := range parts {
				edges, err := readLines(strings.NewReader(data), graph.Cut(size, part, parts), graph.Cut(size, part+1, parts))
				if err != nil {
					t.Fatalf("%q in %d parts: %v", data, parts, err)
				}
				got = append(got, edges...)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%q in %d parts: got %v, want %v", data, parts, got, want)
			}
		}
	}
}

// Ids get the same numbers whether they lie close together or not.
func TestNumbers(t *testing.T) {
	random := seeded(t)
	for _, shift := range []int{0, 10, 40, 56, 60} {
		edges := make([]edge, 300)
		want := map[uint64]bool{}
		for i := range edges {
			edges[i] = edge{From: random.Uint64() >> shift, To: random.Uint64() >> shift}
			want[edges[i].From], want[edges[i].To] = true, true
		}
		d := endpoints(edges)
		if len(d) != len(want) || !slices.IsSorted(d) {
			t.Fatalf("shift %d: %d ids, want %d", shift, len(d), len(want))
		}
		number := d.numbers()
		for i, id := range d {
			if !want[id] || number(id) != uint32(i) {
				t.Fatalf("shift %d: id %d has number %d, want %d", shift, id, number(id), i)
			}
		}
	}
	if d := endpoints(nil); len(d) != 0 {
		t.Errorf("no edges: %v", d)
	}
}

func TestMirrored(t *testing.T) {
	got := whole(t, mirrored{edgeFile{path: "testdata/crlf.txt"}}, 1)
	var want []edge
	for _, e := range [][2]uint64{{1, 2}, {2, 3}, {3, 1}, {2, 1}, {3, 2}, {1, 3}} {
		want = append(want, edge{From: e[0], To: e[1]})
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Blocks and ranks cover the vertices in order, differ by one vertex at most, and owner agrees with them.
func TestLayout(t *testing.T) {
	for _, l := range []layout{{1, 1, 1}, {7, 1, 3}, {7, 3, 2}, {3, 8, 5}, {1000, 7, 13}, {100, 2, 16}, {1<<32 - 1, 1000, 16}} {
		next := 0
		for r := range l.ranks {
			lo, hi := l.own(r)
			if lo != next || l.counts()[r] != hi-lo {
				t.Fatalf("%+v: rank %d begins at %d, want %d", l, r, lo, next)
			}
			for i := range l.blocks {
				lo, hi := l.block(r, i)
				if n := l.vertices / (l.ranks * l.blocks); lo != next || hi-lo != n && hi-lo != n+1 {
					t.Fatalf("%+v: block %d of rank %d is %d to %d after %d", l, i, r, lo, hi, next)
				}
				for _, v := range []int{lo, hi - 1} {
					if lo < hi && l.owner(v) != r {
						t.Fatalf("%+v: owner of %d is %d, want %d", l, v, l.owner(v), r)
					}
				}
				next = hi
			}
		}
		if next != l.vertices {
			t.Fatalf("%+v ends at %d", l, next)
		}
	}
}

// The bar never goes back while the change shrinks, and is full at the end.
func TestDone(t *testing.T) {
	r := rule{tolerance: 1e-12, iterations: 500}
	before := r.done(0, 0)
	if before != 0 {
		t.Errorf("at the beginning: %v", before)
	}
	for k, change := int64(1), 0.7; change > 1e-13; k, change = k+1, change*0.8 {
		now := r.done(k, change)
		if now < before || now > 1 {
			t.Fatalf("iteration %d: %v after %v", k, now, before)
		}
		before = now
	}
	if before != 1 || r.done(500, 0.5) != 1 {
		t.Errorf("at the end: %v, %v", before, r.done(500, 0.5))
	}
}

// shared is written to by the goroutine that draws.
type shared struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *shared) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(b)
}

// The bar shows phases and then iterations, and stopping it ends its goroutine.
func TestDraw(t *testing.T) {
	var out shared
	p, r := new(progress), rule{tolerance: 1e-12, iterations: 10}
	p.enter("reading")
	p.draw(&out, r)()
	p.draw(nil, r)()
	if got := out.buf.String(); !strings.Contains(got, "reading") {
		t.Errorf("drew %q", got)
	}
	p.iterated(3, 0.125)
	p.draw(&out, r)()
	if got := out.buf.String(); !strings.Contains(got, "iteration 3, change 1.2e-01") {
		t.Errorf("drew %q", got)
	}
}
