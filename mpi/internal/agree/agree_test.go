package agree

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/golci/golci/mpi/internal/errs"
)

func random(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// TestWalk goes at random through larger communicators, in which many die.
func TestWalk(t *testing.T) {
	r := random(t)
	for round := range 40 {
		p := plan{ranks: 2 + r.IntN(20), calls: 5}
		p.deaths = r.IntN(p.ranks)
		for rank := range p.ranks {
			p.dies = append(p.dies, rank)
		}
		w := newWorld(p)
		for {
			steps := w.possible()
			if len(steps) == 0 {
				break
			}
			s := steps[r.IntN(len(steps))]
			if s.what == "die" && r.IntN(8) != 0 {
				continue
			}
			w.do(s)
			if w.fault != nil {
				t.Fatalf("round %d, %+v: %v", round, p, w.fault)
			}
		}
		if err := w.Check(true); err != nil {
			t.Fatalf("round %d, %+v: %v", round, p, err)
		}
	}
}

// TestSet compares sets with maps, beyond one word.
func TestSet(t *testing.T) {
	r := random(t)
	for range 200 {
		n := 1 + r.IntN(150)
		a, b := NewSet(n), NewSet(n)
		in := [2]map[int]bool{make(map[int]bool), make(map[int]bool)}
		for range r.IntN(2 * n) {
			rank := r.IntN(n)
			if r.IntN(2) == 0 {
				a.Add(rank)
				in[0][rank] = true
			} else {
				b.Add(rank)
				in[1][rank] = true
			}
		}
		or, and := slices.Clone(a), slices.Clone(a)
		or.Join(b)
		and.intersectWith(b)
		minus := a.subtractSet(b)
		var list []int
		for rank := range n {
			x, y := in[0][rank], in[1][rank]
			if or.Has(rank) != (x || y) || and.Has(rank) != (x && y) || minus.Has(rank) != (x && !y) {
				t.Fatalf("of %d ranks: %x and %x", n, a, b)
			}
			if x {
				list = append(list, rank)
			}
		}
		if got := slices.Collect(a.All()); !slices.Equal(got, list) || a.Len() != len(list) || !full(n).fitsSize(n) ||
			full(n).Len() != n {
			t.Fatalf("of %d ranks %v are in, %d; want %v", n, got, a.Len(), list)
		}
		for range a.All() {
			break
		}
		if full(n+1).fitsSize(n) || n%64 != 0 && !a.fitsSize(n) || a.fitsSize(n+64) {
			t.Fatalf("%d ranks: sets of others fit", n)
		}
	}
}

func randomMessage(r *rand.Rand, ranks int) Message {
	m := Message{
		Number: r.Uint64() >> r.IntN(64), Kind: Kind(r.IntN(int(kinds))), Round: r.IntN(ranks),
		Stage: Stage(r.IntN(int(stages))),
	}
	if m.Kind != Ack {
		m.Value = Value{r.Uint64(), NewSet(ranks), NewSet(ranks)}
		for range r.IntN(ranks) {
			m.Value.Failed.Add(r.IntN(ranks))
			m.Value.Acked.Add(r.IntN(ranks))
		}
	}
	return m
}

// TestParse reads what was appended, and nothing shorter or longer.
func TestParse(t *testing.T) {
	r := random(t)
	for range 500 {
		ranks := 1 + r.IntN(140)
		m := randomMessage(r, ranks)
		b := m.Append(nil)
		got, err := Parse(b, ranks)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(m) {
			t.Fatalf("%v of %d ranks is %v, %v", m, ranks, got, err)
		}
		for _, wrong := range [][]byte{b[:r.IntN(len(b))], append(slices.Clone(b), 0)} {
			if _, err := Parse(wrong, ranks); errs.Of(err) != errs.Intern {
				t.Fatalf("%x of %d ranks: %v", wrong, ranks, err)
			}
		}
		last := ranks - 1
		fits := m.Round < last && (m.Kind == Ack || !m.Value.Failed.Has(last) && !m.Value.Acked.Has(last))
		if _, err := Parse(b, last); (err == nil) != fits {
			t.Fatalf("%v of %d ranks: %v", m, last, err)
		}
	}
}

// TestSetBytes: a set in bytes is as long as its runs, and nothing else is read as one.
func TestSetBytes(t *testing.T) {
	for _, c := range []struct {
		b    []byte
		want []int
		bad  bool
	}{
		{b: []byte{0}},
		{b: []byte{1, 0, 0}, want: []int{0}},
		{b: []byte{1, 68, 1}, want: []int{68, 69}},
		{b: []byte{2, 1, 0, 1, 67}, bad: true}, // beyond the last rank
		{b: []byte{2, 1, 1, 1, 0}, want: []int{1, 2, 4}},
		{b: []byte{2, 1, 1, 0, 0}, bad: true}, // two runs that are one
		{b: []byte{1, 70, 0}, bad: true},
		{b: []byte{1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 0}, bad: true},
		{b: []byte{1, 1, 255, 255, 255, 255, 255, 255, 255, 255, 127}, bad: true},
		{b: []byte{2, 1, 0}, bad: true},
		{b: []byte{0x80, 0}, bad: true}, // not as short as can be
		{b: nil, bad: true},
	} {
		s, rest, ok := parseSet(c.b, 70)
		if ok == c.bad {
			t.Errorf("%v: %v", c.b, ok)
		}
		if !ok {
			continue
		}
		if got := slices.Collect(s.All()); !slices.Equal(got, c.want) || len(rest) > 0 || !bytes.Equal(s.appendTo(nil), c.b) {
			t.Errorf("%v is %v, and written as %v", c.b, got, s.appendTo(nil))
		}
	}
	if b := full(100_000).appendTo(nil); len(b) != 5 {
		t.Errorf("all of 100,000 ranks take %d bytes", len(b))
	}
}

// FuzzParse: what is read as a message is written as it was.
func FuzzParse(f *testing.F) {
	f.Add(Message{Value: Value{1, full(3), NewSet(3)}}.Append(nil), 3)
	f.Add(Message{Kind: Ack, Round: 2}.Append(nil), 200)
	f.Fuzz(func(t *testing.T, b []byte, ranks int) {
		ranks = 1 + ranks&1023
		m, err := Parse(b, ranks)
		if err != nil {
			return
		}
		again, err := Parse(m.Append(nil), ranks)
		if err != nil || fmt.Sprint(again) != fmt.Sprint(m) || len(m.Append(nil)) > len(b) {
			t.Fatalf("%x is %+v, and again %+v, %v", b, m, again, err)
		}
	})
}

// TestWrong has messages and calls that cannot be.
func TestWrong(t *testing.T) {
	s := New(1, 3)
	empty := Value{0, NewSet(3), NewSet(3)}
	for _, c := range []struct {
		from int
		m    Message
	}{
		{1, Message{Kind: Vote, Round: 1, Value: empty}},
		{-1, Message{Kind: Vote, Round: 1, Value: empty}},
		{3, Message{Kind: Vote, Round: 1, Value: empty}},
		{0, Message{Kind: Vote, Round: 0, Value: empty}},
		{2, Message{Kind: Vote, Round: 1, Stage: stages, Value: empty}},
		{2, Message{Kind: Vote, Round: 1}},
		{2, Message{Kind: Vote, Round: 1, Value: Value{0, NewSet(3), NewSet(65)}}},
		{2, Message{Kind: Vote, Round: 1, Value: empty, Number: 1}},
		{0, Message{Kind: Propose, Round: 0, Value: empty}},
		{0, Message{Kind: Decide, Round: 0, Value: empty}},
		{2, Message{Kind: Ack, Round: 1}},
		{2, Message{Kind: kinds, Round: 1, Value: empty}},
	} {
		if out, err := s.Step(c.from, c.m); errs.Of(err) != errs.Intern || len(out) > 0 {
			t.Errorf("from %d %+v: %v, %v", c.from, c.m, out, err)
		}
	}
	for _, rank := range []int{-1, 1, 3} {
		if out := s.Failed(rank); len(out) > 0 || s.Failures().Len() > 0 {
			t.Errorf("failure of %d: %v", rank, out)
		}
	}
	if _, err := s.Call(1, NewSet(65)); errs.Of(err) != errs.Intern {
		t.Errorf("a set of 65 ranks: %v", err)
	}
	if out, err := s.Call(1, NewSet(3)); err != nil || len(out) != 1 {
		t.Errorf("call: %v, %v", out, err)
	}
	if _, err := s.Call(1, NewSet(3)); errs.Of(err) != errs.Other {
		t.Errorf("a second call: %v", err)
	}
	if _, err := s.Step(0, Message{Kind: Propose, Round: 2, Value: empty}); errs.Of(err) != errs.Intern {
		t.Errorf("a proposal of another rank: %v", err)
	}
	if out, err := s.Step(0, Message{Kind: Decide, Value: Value{1, full(3), NewSet(3)}}); err != nil || len(out) != 1 ||
		s.Failures().Len() != 0 {
		t.Errorf("the news that this rank has failed: %v, %v", out, err)
	}
}

// FuzzStep gives a rank any messages, failures and calls. It may refuse them, and sends only what can be read.
func FuzzStep(f *testing.F) {
	m := Message{Kind: Vote, Round: 1, Value: Value{1, NewSet(3), NewSet(3)}}
	one := append([]byte{byte(len(m.Append(nil))), 2}, m.Append(nil)...)
	f.Add(append([]byte{0, 1, 0, 9}, one...))
	f.Add(append(bytes.Clone(one), 0, 0, 0, 1, 0, 9))
	f.Fuzz(func(t *testing.T, b []byte) {
		const ranks = 3
		s := New(1, ranks)
		for len(b) >= 2 {
			n, from := int(b[0]), int(b[1])
			b = b[2:]
			var out []Action
			switch {
			case n == 0 && from < ranks:
				out = s.Failed(from)
			case n == 0:
				out, _ = s.Call(uint64(from), NewSet(ranks))
			default:
				n = min(n, len(b))
				if m, err := Parse(b[:n], ranks); err == nil {
					out, _ = s.Step(from, m)
				}
				b = b[n:]
			}
			for _, a := range out {
				if _, err := Parse(a.Message.Append(nil), ranks); err != nil || a.To == 1 || a.To >= ranks {
					t.Fatalf("sends %+v: %v", a, err)
				}
			}
			if len(s.open) > 3 {
				t.Fatalf("%d agreements are kept", len(s.open))
			}
		}
	})
}
