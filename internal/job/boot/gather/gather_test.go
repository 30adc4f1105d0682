package gather

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// flight is a piece on its way.
type flight struct {
	from, to int
	Piece
}

// world is a job in which pieces travel in any order, but for those of one pair and round.
type world struct {
	ranks []*Machine
	has   []map[int]bool // whose values a rank has
	sent  []int          // values, by sender
	way   []flight
}

func newWorld(t *testing.T, size int) *world {
	t.Helper()
	w := &world{sent: make([]int, size)}
	for r := range size {
		m, err := New(r, size)
		if err != nil {
			t.Fatal(err)
		}
		w.ranks, w.has = append(w.ranks, m), append(w.has, map[int]bool{r: true})
	}
	return w
}

// send puts pieces on their way, cut at random places. Their sender must have their values.
func (w *world) send(t *testing.T, r *rand.Rand, from int, out []Send) {
	t.Helper()
	for _, s := range out {
		w.sent[from] += s.Count
		for s.Count > 0 {
			n := 1 + r.IntN(s.Count)
			for i := range n {
				if v := (s.First + i) % len(w.ranks); !w.has[from][v] {
					t.Fatalf("rank %d sends the value of %d, which it lacks", from, v)
				}
			}
			w.way = append(w.way, flight{from, s.To, Piece{s.Round, s.First, n}})
			s.First, s.Count = (s.First+n)%len(w.ranks), s.Count-n
		}
	}
}

// next takes a piece from the way, the first of its pair and round.
func (w *world) next(r *rand.Rand) flight {
	f := w.way[r.IntN(len(w.way))]
	for i, g := range w.way {
		if g.from == f.from && g.to == f.to && g.Round == f.Round {
			w.way = append(w.way[:i:i], w.way[i+1:]...)
			return g
		}
	}
	return f
}

// TestAllGetAll: in any order of arrival every rank gets the value of each other once, and sends as many.
func TestAllGetAll(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for _, size := range []int{1, 2, 3, 4, 5, 7, 8, 9, 31, 64, 100} {
		w := newWorld(t, size)
		for i, m := range w.ranks {
			w.send(t, r, i, m.Begin())
		}
		for len(w.way) > 0 {
			f := w.next(r)
			out, err := w.ranks[f.to].Take(f.from, f.Piece)
			if err != nil {
				t.Fatal(err)
			}
			for i := range f.Count {
				v := (f.First + i) % size
				if w.has[f.to][v] {
					t.Fatalf("%d ranks: rank %d gets the value of %d twice", size, f.to, v)
				}
				w.has[f.to][v] = true
			}
			w.send(t, r, f.to, out)
		}
		for i, m := range w.ranks {
			if !m.Over() || len(w.has[i]) != size || w.sent[i] != size-1 {
				t.Errorf("%d ranks: rank %d has %d values, has sent %d, over: %v", size, i, len(w.has[i]), w.sent[i], m.Over())
			}
		}
	}
}

// TestMessagesAreFew: a rank sends to ceil(log2 N) others.
func TestMessagesAreFew(t *testing.T) {
	for _, size := range []int{1, 2, 3, 5, 64, 1000, 100_000} {
		m, err := New(size/2, size)
		if err != nil {
			t.Fatal(err)
		}
		sends := len(m.Begin())
		for k := range m.rounds {
			from := m.senderOf(k)
			out, err := m.Take(from, Piece{k, m.firstAfter(from, k, 0), m.countIn(k)})
			if err != nil {
				t.Fatal(err)
			}
			sends += len(out)
		}
		if want := bits.Len(uint(size - 1)); sends != want || !m.Over() {
			t.Errorf("%d ranks: %d messages, want %d", size, sends, want)
		}
	}
}

// TestStrangePieces: what no rank can have sent is refused, and changes nothing.
func TestStrangePieces(t *testing.T) {
	m, err := New(3, 8)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []flight{
		{from: 2, Piece: Piece{-1, 2, 1}},
		{from: 2, Piece: Piece{3, 2, 1}},
		{from: 1, Piece: Piece{0, 1, 1}}, // of another distance
		{from: 2, Piece: Piece{0, 1, 1}}, // another rank's value
		{from: 2, Piece: Piece{0, 2, 0}},
		{from: 2, Piece: Piece{0, 2, 2}}, // more than it has
		{from: 1, Piece: Piece{1, 1, 1}}, // not the first of its round
		{from: 9, Piece: Piece{0, 2, 1}},
	} {
		before := *m
		out, err := m.Take(c.from, c.Piece)
		if !errors.Is(err, ErrPiece) || len(out) > 0 || *m != before {
			t.Errorf("%+v: %v, %v", c, out, err)
		}
	}
	if rank, ok := m.Waiting(); !ok || rank != 2 {
		t.Errorf("waits for rank %d, %v", rank, ok)
	}
	if _, err := m.Take(2, Piece{0, 2, 1}); err != nil {
		t.Error(err)
	}
	if _, err := m.Take(2, Piece{0, 2, 1}); !errors.Is(err, ErrPiece) { // twice
		t.Errorf("the same again: %v", err)
	}
	for _, c := range [][2]int{{-1, 3}, {3, 3}, {0, 0}} {
		if m, err := New(c[0], c[1]); err == nil {
			t.Errorf("rank %d of %d: %v", c[0], c[1], m)
		}
	}
}

func ExampleMachine() {
	m, _ := New(3, 5)
	fmt.Println(m.Begin())
	out, _ := m.Take(2, Piece{Round: 0, First: 2, Count: 1})
	fmt.Println(out)
	// Output:
	// [{4 {0 3 1}}]
	// [{0 {1 2 2}}]
}
