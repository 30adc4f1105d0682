package credit

import (
	"fmt"
	"math/rand/v2"
)

// world is a few ranks with both halves of every pair, and everything that travels between them. Each step is drawn at
// random: what is delivered, repeated or lost is in no order.
type world struct {
	r       *rand.Rand
	c       Config
	words   bool
	ranks   []*Ledger
	pairs   [][]Borrower // pairs[x][y]: what y has lent to x
	records []record
	notes   []sentNote
	system  []sentMessage
	words64 [][]uint64 // words64[y][x]: the note of lender y for x
	away    []bool     // ranks that serve no system message
}

type record struct {
	src, dst, cost int
	f              Fields
}

type sentNote struct {
	src, dst int
	w        uint32
}

type sentMessage struct {
	src int
	Message
}

func newWorld(seed uint64, n int, c Config, words bool) (*world, error) {
	w := &world{r: rand.New(rand.NewPCG(seed, 7)), c: c, words: words, away: make([]bool, n)}
	for i := range n {
		g, err := NewLedger(c, i, n)
		if err != nil {
			return nil, err
		}
		w.ranks = append(w.ranks, g)
		row := make([]Borrower, n)
		for j := range row {
			if row[j], err = Borrow(&c); err != nil {
				return nil, err
			}
		}
		w.pairs = append(w.pairs, row)
		w.words64 = append(w.words64, make([]uint64, n))
	}
	return w, nil
}

// rewind sets every counter close to where it wraps.
func (w *world) rewind(back uint32) {
	for y := range w.ranks {
		for x := range w.ranks {
			l, b := &w.ranks[y].peers[x], &w.pairs[x][y]
			l.told, b.returned = -back, -back
			l.granted, b.granted = uint16(-back), uint16(-back)
			w.words64[y][x] = Note{Returned: -back, Granted: uint16(-back)}.Pack64()
		}
	}
}

func (w *world) wire(x, y, n int) Fields {
	if w.words {
		return w.pairs[x][y].WireNeed(n)
	}
	return w.pairs[x][y].Wire(n, w.ranks[x].Epoch())
}

func (w *world) send(x, y, n int) bool {
	b := &w.pairs[x][y]
	if w.words && !w.hear64(x, y) {
		return false
	}
	if !b.Take(n) {
		if a, ask := b.Stall(n); ask {
			w.post(x, Message{Peer: y, Kind: Ask, Args: a})
		}
		return false
	}
	w.records = append(w.records, record{x, y, n, w.wire(x, y, n)})
	return true
}

func (w *world) hear64(x, y int) bool {
	_, err := w.pairs[x][y].Hear64(w.words64[y][x])
	if err != nil {
		panic(err)
	}
	return true
}

func (w *world) tell(y, x int) {
	n := w.ranks[y].Note(x)
	if w.words {
		w.words64[y][x] = n.Pack64()
		return
	}
	w.notes = append(w.notes, sentNote{y, x, n.Pack32()})
	if f := w.wire(y, x, 0); f.Epoch() {
		w.pairs[x][y].Epochs(1)
	}
}

func (w *world) receive(r record) {
	g := w.ranks[r.dst]
	if r.f.Epoch() {
		w.pairs[r.dst][r.src].Epochs(1)
	}
	due := g.Freed(r.src, r.f.Cost())
	if g.Need(r.src, r.f.Need()) > 0 || due {
		w.tell(r.dst, r.src)
	}
	w.collect(r.dst)
}

func (w *world) collect(src int) {
	for _, m := range w.ranks[src].Messages() {
		w.post(src, m)
	}
}

func (w *world) post(src int, m Message) {
	if w.words {
		w.tell(src, m.Peer)
	} else {
		w.pairs[src][m.Peer].Stamp(&m.Args, w.ranks[src].Epoch())
	}
	w.system = append(w.system, sentMessage{src, m})
}

func (w *world) serve(s sentMessage) error {
	x := s.Peer
	switch s.Kind {
	case Revoke:
		if w.words {
			w.hear64(x, s.src)
		}
		a, err := w.pairs[x][s.src].Revoke(&w.c, s.Args)
		if err != nil {
			return err
		}
		w.post(x, Message{Peer: s.src, Kind: Return, Args: a})
	case Return:
		w.pairs[x][s.src].Epochs(int(s.Args[1]))
		return w.ranks[x].Returned(s.src, s.Args)
	case Ask:
		w.pairs[x][s.src].Epochs(int(s.Args[1]))
		if w.ranks[x].Asked(s.src, s.Args) > 0 {
			w.tell(x, s.src)
		}
		w.collect(x)
	}
	return nil
}

// step does one thing. Notes may be repeated or lost, everything else is delivered once, in any order.
func (w *world) step() error {
	n := len(w.ranks)
	switch w.r.IntN(8) {
	case 0, 1, 2:
		x := w.r.IntN(n)
		y := (x + 1 + w.r.IntN(min(2, n-1))) % n
		w.send(x, y, 1+w.r.IntN(w.c.Min))
	case 3, 4:
		if r, ok := pick(w.r, &w.records); ok {
			w.receive(r)
		}
	case 5:
		if len(w.notes) > 0 {
			i := w.r.IntN(len(w.notes))
			s := w.notes[i]
			if _, err := w.pairs[s.dst][s.src].Hear32(s.w); err != nil {
				return err
			}
			if w.r.IntN(2) == 0 {
				w.notes = append(w.notes[:i], w.notes[i+1:]...)
			}
			if len(w.notes) > 40 { // the oldest are lost
				w.notes = w.notes[20:]
			}
		}
	case 6:
		if s, ok := pick(w.r, &w.system); ok {
			if w.away[s.Peer] {
				w.system = append(w.system, s)
				return nil
			}
			return w.serve(s)
		}
	case 7:
		y := w.r.IntN(n)
		if x := w.r.IntN(n); x != y && (w.ranks[y].Owed(x) > 0 || w.r.IntN(4) == 0) { // as an idle poller does
			w.tell(y, x)
		}
	}
	return nil
}

func pick[T any](r *rand.Rand, from *[]T) (x T, ok bool) {
	s := *from
	if len(s) == 0 {
		return x, false
	}
	i := r.IntN(len(s))
	x = s[i]
	s[i] = s[len(s)-1]
	*from = s[:len(s)-1]
	return x, true
}

// check is every invariant across both ends.
func (w *world) check() error {
	flying := make([]int, len(w.ranks))
	returns := make(map[[2]int]int)
	revokes := make(map[[2]int]int)
	for _, r := range w.records {
		flying[r.dst] += r.cost
	}
	for _, s := range w.system {
		switch s.Kind {
		case Revoke:
			revokes[[2]int{s.src, s.Peer}]++
		case Return:
			d := uint16(s.Args[0]) - w.ranks[s.Peer].gotCount(&w.ranks[s.Peer].peers[s.src])
			returns[[2]int{s.src, s.Peer}] = max(returns[[2]int{s.src, s.Peer}], int(int16(d)))
		}
	}
	for y, g := range w.ranks {
		if err := g.Check(); err != nil {
			return fmt.Errorf("rank %d: %w", y, err)
		}
		if total := w.c.Total(len(w.ranks)); flying[y] > total {
			return fmt.Errorf("rank %d: %d credits in flight, room for %d", y, flying[y], total)
		}
		for x := range w.ranks {
			if x == y {
				continue
			}
			b, l := &w.pairs[x][y], &g.peers[x]
			unheard := int(l.granted - b.granted)
			if int(b.loan)+unheard+returns[[2]int{x, y}] != int(l.loan) {
				return fmt.Errorf("%d has lent %d to %d, who knows of %d, grants on the way %d, returns %d",
					y, l.loan, x, b.loan, unheard, returns[[2]int{x, y}])
			}
			if b.inUse > b.loan || int(b.loan) < w.c.Min {
				return fmt.Errorf("%d uses %d of %d credits of %d, least %d", x, b.inUse, b.loan, y, w.c.Min)
			}
			if n := revokes[[2]int{y, x}]; n > 1 && g.stats.Repeated == 0 {
				return fmt.Errorf("%d revokes from %d on their way to %d", n, y, x)
			}
		}
	}
	return nil
}
