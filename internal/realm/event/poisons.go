package event

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// MaxRuns is how many runs of poisoned generations in a row a slot remembers. It is retired then.
const MaxRuns = 16

// MaxText is the longest text of a poison, in bytes, that travels.
const MaxText = 160

// maxCauses is how many causes of a slot are kept. Of older poisons it is known that there was one.
const maxCauses = 4

// Poisons are the poisoned generations of one event. A program that only creates and cancels needs one run. The zero
// value has none.
type Poisons struct {
	forgotten uint32  // the outcomes of the generations up to this one are not known any more; 0: all are
	runs      []run   // of later generations, oldest first
	causes    []cause // of the newest generations, oldest first; two in a row differ
}

// run has the generations from and to and all between.
type run struct {
	from, to uint32
}

// cause is the poison of a generation, and of those that were poisoned after it and before that of the next cause.
type cause struct {
	gen uint32
	why *Poison
}

// NoRank is the rank of a poison whose origin is not known any more.
const NoRank = -1

var (
	noCause   = Poison{Rank: NoRank, Text: "poisoned; the cause has been forgotten"}
	noOutcome = Poison{Rank: NoRank, Text: "triggered; the outcome has been forgotten"}
)

// Add notes that gen, which is greater than all before, has been poisoned. If a rank has died, many generations in a
// row have the same poison, and it is kept once.
func (p *Poisons) Add(gen uint32, why *Poison) {
	if n := len(p.causes); n == 0 || !p.causes[n-1].why.says(why) {
		if n == maxCauses {
			p.causes = slices.Delete(p.causes, 0, 1)
		}
		p.causes = append(p.causes, cause{gen, why})
	}
	if n := len(p.runs); n > 0 && p.runs[n-1].to+1 == gen {
		p.runs[n-1].to = gen
		return
	}
	p.runs = append(p.runs, run{gen, gen})
}

// Find is the poison of gen, nil if it has none. Of an old generation the cause may be forgotten, or the outcome, which
// counts as a poison.
func (p *Poisons) Find(gen uint32) *Poison {
	switch {
	case p == nil:
		return nil
	case p.forgot(gen):
		return &noOutcome
	}
	for i := len(p.runs) - 1; i >= 0 && p.runs[i].to >= gen; i-- {
		if p.runs[i].from <= gen {
			return p.cause(gen)
		}
	}
	return nil
}

func (p *Poisons) cause(gen uint32) *Poison {
	for _, c := range slices.Backward(p.causes) {
		if c.gen <= gen {
			return c.why
		}
	}
	return &noCause
}

// says tells whether p says all that q says. A poison from another rank has no error.
func (p *Poison) says(q *Poison) bool {
	if p == q {
		return true
	}
	return p.Rank == q.Rank && p.Text == q.Text &&
		(q.Err == nil || reflect.ValueOf(q.Err).Comparable() && p.Err == q.Err)
}

// Full tells whether there is no place for another run.
func (p *Poisons) Full() bool {
	if p == nil || len(p.runs) == 0 {
		return false
	}
	return len(p.runs) >= MaxRuns || p.runs[len(p.runs)-1].to == MaxGen
}

// forgot tells whether the outcome of gen is not known any more.
func (p *Poisons) forgot(gen uint32) bool { return p != nil && gen <= p.forgotten }

// empty tells whether nothing is known but that no generation has been poisoned.
func (p *Poisons) empty() bool { return p == nil || len(p.runs) == 0 && p.forgotten == 0 }

// Clone is a copy.
func (p *Poisons) Clone() *Poisons {
	if p.empty() {
		return nil
	}
	return &Poisons{p.forgotten, slices.Clone(p.runs), slices.Clone(p.causes)}
}

// lost, beside the number of runs, says that the newest forgotten generation follows.
const lost = 0x80

// Append encodes all behind b: the number of runs, the newest forgotten generation if there is one, the generations of
// the runs, and the causes with their generations. If nothing is poisoned or forgotten, there are no bytes.
func (p *Poisons) Append(b []byte) []byte {
	switch {
	case p.empty():
		return b
	case p.forgotten == 0:
		b = append(b, byte(len(p.runs)))
	default:
		b = binary.LittleEndian.AppendUint32(append(b, byte(len(p.runs))|lost), p.forgotten)
	}
	for _, r := range p.runs {
		b = binary.LittleEndian.AppendUint32(b, r.from)
		b = binary.LittleEndian.AppendUint32(b, r.to)
	}
	for _, c := range p.causes {
		b = binary.LittleEndian.AppendUint32(b, c.gen)
		b = c.why.Append(b)
	}
	return b
}

// ParsePoisons decodes what Append has made.
func ParsePoisons(b []byte) (*Poisons, error) {
	if len(b) == 0 {
		return nil, nil
	}
	n, head, p := int(b[0]&^lost), 1, new(Poisons)
	old := b[0]&lost != 0
	if old && len(b) >= 5 {
		p.forgotten, head = binary.LittleEndian.Uint32(b[1:]), 5
	}
	if n > MaxRuns || len(b) < head+8*n || n == 0 && !old || old != (p.forgotten > 0) || p.forgotten > MaxGen {
		return nil, fmt.Errorf("%d bytes for %d runs of poisoned events behind %d", len(b), n, p.forgotten)
	}
	if err := p.parseRuns(b[head : head+8*n]); err != nil {
		return nil, err
	}
	if err := p.parseCauses(b[head+8*n:]); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Poisons) parseRuns(b []byte) error {
	for last := p.forgotten; len(b) > 0; b = b[8:] {
		r := run{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])}
		if r.from <= last || r.to < r.from || r.to > MaxGen {
			return fmt.Errorf("poisoned generations %d to %d behind those up to %d", r.from, r.to, last)
		}
		p.runs = append(p.runs, r)
		last = r.to
	}
	return nil
}

func (p *Poisons) parseCauses(b []byte) error {
	for len(b) > 0 {
		n := len(p.causes)
		if len(b) < 4 || n == maxCauses {
			return fmt.Errorf("%d bytes behind %d poisons", len(b), n)
		}
		c := cause{gen: binary.LittleEndian.Uint32(b)}
		if n > 0 && c.gen <= p.causes[n-1].gen || c.gen <= p.forgotten || p.Find(c.gen) == nil {
			return fmt.Errorf("poison %d is of generation %d", n, c.gen)
		}
		var err error
		if c.why, b, err = ParsePoison(b[4:]); err != nil {
			return err
		}
		p.causes = append(p.causes, c)
	}
	return nil
}

// Append encodes the poison behind b, with at most MaxText bytes of its text.
func (p *Poison) Append(b []byte) []byte {
	text := p.Text
	if len(text) > MaxText {
		text = strings.ToValidUTF8(text[:MaxText], "") // the cut may be inside a character
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(p.Rank))
	b = append(b, byte(len(text)))
	return append(b, text...)
}

// ParsePoison decodes what Append has made, and returns the rest of b.
func ParsePoison(b []byte) (p *Poison, rest []byte, err error) {
	if len(b) < 5 || len(b) < 5+int(b[4]) {
		return nil, nil, fmt.Errorf("a poison of %d bytes is cut off", len(b))
	}
	n := 5 + int(b[4])
	if n > 5+MaxText {
		return nil, nil, fmt.Errorf("a poison has a text of %d bytes, more than %d", n-5, MaxText)
	}
	return &Poison{Rank: int32(binary.LittleEndian.Uint32(b)), Text: string(b[5:n])}, b[n:], nil
}
