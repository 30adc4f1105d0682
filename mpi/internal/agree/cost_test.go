package agree

import (
	"reflect"
	"testing"
)

// costs are what messages may cost: looks at whether a rank lives, and actions.
type costs struct{ looks, sent int }

// step has a rank take a message, and counts what that costs.
func (c *costs) step(t *testing.T, s *Series, from int, m Message) {
	t.Helper()
	before := s.looks
	out, err := s.Step(from, m)
	if err != nil {
		t.Fatal(err)
	}
	c.looks += s.looks - before
	c.sent += len(out)
}

// collect has a coordinator, below which all ranks have failed, take the votes and locks of all others, in order or
// backward.
func collect(t *testing.T, self, ranks int, backward bool) (c costs) {
	t.Helper()
	s, failed := New(self, ranks), NewSet(ranks)
	for r := range self {
		failed.Add(r)
	}
	s.learnFailed(failed)
	before := s.looks
	if _, err := s.Call(1, failed); err != nil {
		t.Fatal(err)
	}
	c.looks += s.looks - before
	for _, kind := range []Kind{Vote, Ack} {
		for r := self + 1; r < ranks; r++ {
			from, m := r, Message{Kind: kind, Round: self}
			if backward {
				from = ranks + self - r
			}
			if kind == Vote {
				m.Value = Value{Flag: 1, Failed: failed, Acked: failed}
			}
			c.step(t, s, from, m)
		}
	}
	return c
}

// TestMessagesCostNoLookAtAllRanks: the messages of an agreement cost its coordinator a few looks for each rank
// together, whatever their order. It makes no difference that the ranks below it have failed.
func TestMessagesCostNoLookAtAllRanks(t *testing.T) {
	for _, ranks := range []int{2, 100, 3_000} {
		for _, self := range []int{0, ranks / 3} {
			for _, backward := range []bool{false, true} {
				c := collect(t, self, ranks, backward)
				if want := 2*(ranks-self-1) + 1; c.sent != want { // to each a proposal and a decision, and to the caller
					t.Errorf("coordinator %d of %d ranks sends %d messages, want %d", self, ranks, c.sent, want)
				}
				if c.looks > 12*ranks {
					t.Errorf("coordinator %d of %d ranks looks %d times whether a rank lives, want up to 12 times for each",
						self, ranks, c.looks)
				}
			}
		}
	}
}

// TestVotesAreNotKept: a coordinator folds the votes. Their sets together would have bits for the square of the ranks.
// Where no rank has failed a message takes few bytes.
func TestVotesAreNotKept(t *testing.T) {
	const ranks = 100_000
	s := New(0, ranks)
	if _, err := s.Call(1, NewSet(ranks)); err != nil {
		t.Fatal(err)
	}
	for r := 1; r < 100; r++ {
		m := Message{Kind: Vote, Value: Value{Flag: 1, Failed: NewSet(ranks), Acked: NewSet(ranks)}}
		if n := len(m.Append(nil)); n > 16 {
			t.Fatalf("a vote takes %d bytes", n)
		}
		if _, err := s.Step(r, m); err != nil {
			t.Fatal(err)
		}
	}
	if got := wordsOf(reflect.ValueOf(s.open[0])); got > 8*ranks/64 {
		t.Errorf("%d words of sets, want up to 8 bits for each rank", got)
	}
}

// wordsOf is how many words are in the sets and slices that something holds.
func wordsOf(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			n = wordsOf(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += wordsOf(v.Field(i))
		}
	case reflect.Slice:
		n = v.Cap()
		for i := range v.Len() {
			n += wordsOf(v.Index(i))
		}
	}
	return n
}
