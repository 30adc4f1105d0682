package event

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func because(gen uint32) *Poison {
	return &Poison{Rank: int32(gen % 7), Text: fmt.Sprintf("cause %d", gen)}
}

// refusing is because, with data that differ from those of most other generations.
func refusing(gen uint32) *Poison {
	p := because(gen)
	p.Errors, p.Rest = gen%3, ID(gen%2)
	for i := range int(gen % 5) {
		p.Refused = p.Refused.With(MakeReservation(i, int(gen)))
	}
	return p
}

// equal tells whether p and q are the same poison for all who can only look at them.
func equal(p, q *Poison) bool {
	if p == nil || q == nil {
		return p == q
	}
	return p.Err == q.Err && p.says(q)
}

// TestPoisonsModel adds random generations. Each that was added is found, the newest with their own poison. No other is
// found. The same holds for the list behind its bytes.
func TestPoisonsModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		p := Poisons{forgotten: uint32(rng.IntN(3) * rng.IntN(100))}
		poisoned, newest := map[uint32]*Poison{}, refusing(0)
		last := p.forgotten
		for !p.isFull() && last < 400 {
			if last++; rng.IntN(3) == 0 {
				continue
			}
			if rng.IntN(4) == 0 {
				newest = refusing(last)
			}
			same := *newest
			poisoned[last] = &same
			p.Add(last, poisoned[last])
		}
		copied, err := ParsePoisons(p.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		newer := 0
		for gen := last + 2; gen > 0; gen-- {
			want := poisoned[gen]
			if gen <= p.forgotten {
				want = &noOutcome
			} else if want != nil {
				if newer == 0 || *want != *newest {
					newer++
				}
				if newest = want; newer > maxCauses {
					want = want.data()
				}
			}
			for _, got := range []*Poison{p.findPoison(gen), copied.findPoison(gen)} {
				if !equal(got, want) {
					t.Fatalf("generation %d of %d has the poison %+v, want %+v", gen, last, got, want)
				}
			}
		}
	}
}

// TestPoisonRuns: generations in a row are one run, and the limit counts runs.
func TestPoisonRuns(t *testing.T) {
	var p Poisons
	for gen := uint32(1); gen <= 1000; gen++ {
		p.Add(gen, because(gen))
	}
	if len(p.runs) != 1 || p.isFull() {
		t.Fatalf("%d runs, full %v", len(p.runs), p.isFull())
	}
	for i := uint32(1); i < MaxRuns; i++ {
		if p.isFull() {
			t.Fatalf("full after %d runs", len(p.runs))
		}
		p.Add(1000+2*i, because(i))
	}
	if !p.isFull() || len(p.runs) != MaxRuns {
		t.Errorf("%d runs, full %v", len(p.runs), p.isFull())
	}
	var last Poisons
	if last.Add(MaxGen, because(1)); !last.isFull() {
		t.Error("not full after the last generation")
	}
	var none *Poisons
	if none.isFull() || none.findPoison(1) != nil || none.Clone() != nil || none.Append(nil) != nil ||
		new(Poisons).isFull() {
		t.Error("no poisons are not empty")
	}
}

// several is an error that == panics with.
type several []error

func (s several) Error() string { return s[0].Error() }

// TestPoisonsInARow: a poison that many generations share is kept once, and others stay. An error of this rank stays.
func TestPoisonsInARow(t *testing.T) {
	var p Poisons
	mine := &Poison{Rank: 1, Text: "cause", Err: errors.New("cause")}
	p.Add(1, because(1))
	p.Add(2, &Poison{Rank: 1, Text: "cause"})
	for gen := uint32(3); gen <= 1000; gen++ {
		p.Add(gen, mine)
	}
	p.Add(1001, &Poison{Rank: 1, Text: "cause"})
	p.Add(1002, &Poison{Rank: 1, Text: "cause", Err: mine.Err})
	if *p.findPoison(1) != *because(1) || p.findPoison(2).Err != nil || p.findPoison(3) != mine ||
		p.findPoison(500) != mine ||
		p.findPoison(1001) != mine || p.findPoison(1002) != mine || len(p.causes) != 3 {
		t.Errorf("%+v", p.causes)
	}
	for gen := range uint32(2) { // an error that cannot be compared is another one each time
		p.Add(2000+gen, &Poison{Rank: 1, Text: "cause", Err: several{mine.Err}})
	}
	p.Add(2002, &Poison{Rank: 1, Text: "cause", Err: errors.New("cause")})
	if len(p.causes) != maxCauses || p.causes[1].gen != 2000 || p.findPoison(2002).Err == mine.Err {
		t.Errorf("%+v", p.causes)
	}
}

// TestPoisonsClone: a clone does not change with the list.
func TestPoisonsClone(t *testing.T) {
	var p Poisons
	p.Add(1, because(1))
	c := p.Clone()
	p.Add(2, because(2))
	p.Add(4, because(4))
	if c.findPoison(2) != nil || c.findPoison(4) != nil || c.findPoison(1).Text != "cause 1" {
		t.Error("the clone has changed")
	}
}

// TestPoisonsTravel: a list comes back from its bytes. The largest fits one active message.
func TestPoisonsTravel(t *testing.T) {
	var p Poisons
	for i := range uint32(MaxRuns) {
		p.Add(MaxGen-40+2*i, &Poison{Rank: NoRank, Text: strings.Repeat(string(rune('a'+i)), MaxText)})
	}
	b := p.Append([]byte("before"))
	if len(b) > 1400 {
		t.Errorf("%d bytes", len(b))
	}
	got, err := ParsePoisons(b[len("before"):])
	if err != nil || !reflect.DeepEqual(got, &p) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := ParsePoisons(nil); got != nil || err != nil {
		t.Errorf("no bytes: %+v, %v", got, err)
	}
}

// TestPoisonText: a long text is cut, but never inside a character. The error stays on its rank.
func TestPoisonText(t *testing.T) {
	long := &Poison{Rank: 3, Text: strings.Repeat("x", MaxText-1) + "é and more", Err: fmt.Errorf("cause")}
	got, rest, err := ParsePoison(append(long.Append(nil), "rest"...))
	if err != nil || string(rest) != "rest" || got.Rank != 3 || got.Err != nil {
		t.Fatalf("got %+v, %q, %v", got, rest, err)
	}
	if !utf8.ValidString(got.Text) || got.Text != strings.Repeat("x", MaxText-1) {
		t.Errorf("text %q", got.Text)
	}
}

// TestPoisonsRefused: what no list encodes to is an error.
func TestPoisonsRefused(t *testing.T) {
	list := func(gens ...uint32) []byte {
		b := []byte{byte(len(gens) / 2)}
		for i, g := range gens {
			if b = binary.LittleEndian.AppendUint32(b, g); i%2 == 1 {
				b = noCause.appendData(b)
			}
		}
		return b
	}
	caused := func(b []byte, gens ...uint32) []byte {
		for _, g := range gens {
			b = because(1).appendCause(binary.LittleEndian.AppendUint32(b, g))
		}
		return b
	}
	refused := func(b []byte, id ID) []byte {
		b[len(b)-refusedBytes] = 1
		return binary.LittleEndian.AppendUint64(b, uint64(id))
	}
	many := make([]uint32, 0, 2*MaxRuns+2)
	for i := range uint32(MaxRuns + 1) {
		many = append(many, 2*i+1, 2*i+1)
	}
	text := append([]byte{1, 0, 0, 0, 0, 0, 0, 0, MaxText + 1}, make([]byte, MaxText+1)...)
	for name, b := range map[string][]byte{
		"no run":               {0},
		"generation 0":         list(0, 1),
		"backwards":            list(5, 4),
		"out of order":         list(5, 6, 3, 3),
		"overlap":              list(5, 6, 6, 7),
		"beyond the last":      list(1, MaxGen+1),
		"too many":             list(many...),
		"cut in the runs":      list(1, 1)[:8],
		"cut in the errors":    list(1, 1)[:12],
		"cut in the rest":      list(1, 1)[:18],
		"cut in the count":     list(1, 1)[:24],
		"cut in a generation":  caused(list(1, 1), 1)[:28],
		"cut in the rank":      caused(list(1, 1), 1)[:31],
		"cut in the text":      caused(list(1, 1), 1)[:36],
		"refuses an event":     refused(list(1, 1), MakeEvent(1, 1, 1)),
		"cut in the refused":   refused(list(1, 1), MakeReservation(1, 1))[:28],
		"more than there are":  append(list(1, 1)[:21], 0xff, 0xff, 0xff, 0xff),
		"a long text":          append(list(1, 1), text...),
		"the cause of none":    caused(list(2, 3), 1),
		"causes out of order":  caused(list(2, 3), 3, 2),
		"two causes of one":    caused(list(2, 3), 2, 2),
		"too many causes":      caused(list(1, 9), 1, 2, 3, 4, 5),
		"the cause of all":     caused(list(1, 9), 0),
		"forgets nothing":      append([]byte{1 | lost, 0, 0, 0, 0}, list(1, 1)[1:]...),
		"cut in the forgotten": {lost, 1, 0, 0},
		"forgets what is not":  {lost, 0, 0, 0xff, 0xff},
		"a forgotten run":      append([]byte{1 | lost, 3, 0, 0, 0}, list(3, 4)[1:]...),
		"a forgotten cause":    caused(append([]byte{1 | lost, 3, 0, 0, 0}, list(4, 4)[1:]...), 3),
	} {
		if p, err := ParsePoisons(b); err == nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if p, err := ParsePoisons(caused(list(many[:2*MaxRuns]...), 1, 3, 5, 7)); err != nil || !p.isFull() {
		t.Errorf("the longest list: %v", err)
	}
}

// FuzzParsePoisons: any bytes are refused, or are exactly the bytes of a list that holds its own rules.
func FuzzParsePoisons(f *testing.F) {
	var p Poisons
	f.Add(p.Append(nil))
	p.Add(3, because(3))
	p.Add(4, refusing(4))
	f.Add(p.Append(nil))
	p.Add(9, &Poison{Rank: NoRank})
	f.Add(p.Append(nil))
	p.forgotten = 2
	f.Add(p.Append(nil))
	f.Add((&Poisons{forgotten: 7}).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParsePoisons(b)
		if err != nil {
			return
		}
		last := uint32(0)
		if p != nil {
			last = p.forgotten
		}
		for i := 0; p != nil && i < len(p.runs); i++ {
			r := p.runs[i]
			if r.from <= last || r.to < r.from || r.to > MaxGen || p.findPoison(r.to) == nil || i >= MaxRuns {
				t.Fatalf("run %d: %+v behind %d", i, r, last)
			}
			last = r.to
		}
		if again := p.Append(nil); !bytes.Equal(again, b) {
			t.Fatalf("%x became %x", b, again)
		}
	})
}

// FuzzParsePoison: any bytes are refused, or begin with the bytes of the poison, and the rest follows.
func FuzzParsePoison(f *testing.F) {
	f.Add(because(3).Append(nil))
	f.Add(refusing(14).Append(nil))
	f.Add(append((&Poison{Rank: NoRank}).Append(nil), 1, 2, 3))
	f.Add([]byte{1, 2, 3, 4, 200})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, rest, err := ParsePoison(b)
		if err == nil && !bytes.Equal(append(p.Append(nil), rest...), b) {
			t.Fatalf("%x became %+v and %x", b, p, rest)
		}
	})
}
