package event

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// MaxRuns is how many runs of poisoned generations in a row a slot remembers. It is retired then.
const MaxRuns = 16

// maxCauses is how many causes of a slot are kept. Of older poisons it is known that there was one, and its data.
const maxCauses = 4

// Poisons are the poisoned generations of one event. A program that only creates and cancels needs one run. The zero
// value has none.
type Poisons struct {
	forgotten uint32  // the outcomes of the generations up to this one are not known any more; 0: all are
	runs      []run   // of later generations, oldest first
	causes    []cause // of the newest generations, oldest first; two in a row differ
}

// run has the generations from and to and all between. Their poisons have the same data.
type run struct {
	from, to uint32
	data     *Poison // what is known of them without their causes
}

// cause is the poison of a generation, and of those that were poisoned after it and before that of the next cause.
type cause struct {
	gen uint32
	why *Poison
}

// Add notes that gen, which is greater than all before, has been poisoned. If a rank has died, many generations in a
// row have the same poison, and it is kept once.
func (p *Poisons) Add(gen uint32, why *Poison) {
	if n := len(p.causes); n == 0 || !p.causes[n-1].why.says(why) {
		if n == maxCauses {
			p.causes = slices.Delete(p.causes, 0, 1)
		}
		p.causes = append(p.causes, cause{gen, why})
	}
	if n := len(p.runs); n > 0 && p.runs[n-1].to+1 == gen && p.runs[n-1].data.sameData(why) {
		p.runs[n-1].to = gen
		return
	}
	p.runs = append(p.runs, run{gen, gen, why.data()})
}

// findPoison is the poison of gen, nil if it has none. Of an old generation the cause may be forgotten, or the outcome,
// which counts as a poison.
func (p *Poisons) findPoison(gen uint32) *Poison {
	switch {
	case p == nil:
		return nil
	case p.forgot(gen):
		return &noOutcome
	}
	if r := p.runOf(gen); r != nil {
		return p.cause(r, gen)
	}
	return nil
}

// runOf is the run that has gen; nil if none has.
func (p *Poisons) runOf(gen uint32) *run {
	for i := len(p.runs) - 1; i >= 0 && p.runs[i].to >= gen; i-- {
		if p.runs[i].from <= gen {
			return &p.runs[i]
		}
	}
	return nil
}

// cause is the poison of gen, which is in r.
func (p *Poisons) cause(r *run, gen uint32) *Poison {
	for _, c := range slices.Backward(p.causes) {
		if c.gen <= gen {
			return c.why
		}
	}
	return r.data
}

// isFull tells whether there is no place for another run.
func (p *Poisons) isFull() bool {
	if p == nil || len(p.runs) == 0 {
		return false
	}
	return len(p.runs) >= MaxRuns || p.runs[len(p.runs)-1].to == MaxGen
}

// forgot tells whether the outcome of gen is not known any more.
func (p *Poisons) forgot(gen uint32) bool { return p != nil && gen <= p.forgotten }

// isEmpty tells whether nothing is known but that no generation has been poisoned.
func (p *Poisons) isEmpty() bool { return p == nil || len(p.runs) == 0 && p.forgotten == 0 }

// Clone is a copy.
func (p *Poisons) Clone() *Poisons {
	if p.isEmpty() {
		return nil
	}
	return &Poisons{p.forgotten, slices.Clone(p.runs), slices.Clone(p.causes)}
}

// lost, beside the number of runs, says that the newest forgotten generation follows.
const lost = 0x80

// Append encodes all behind b: the number of runs, the newest forgotten generation if there is one, the generations and
// data of the runs, and the causes with their generations. If nothing is poisoned or forgotten, there are no bytes.
func (p *Poisons) Append(b []byte) []byte {
	switch {
	case p.isEmpty():
		return b
	case p.forgotten == 0:
		b = append(b, byte(len(p.runs)))
	default:
		b = binary.LittleEndian.AppendUint32(append(b, byte(len(p.runs))|lost), p.forgotten)
	}
	for _, r := range p.runs {
		b = binary.LittleEndian.AppendUint32(b, r.from)
		b = binary.LittleEndian.AppendUint32(b, r.to)
		b = r.data.appendData(b)
	}
	for _, c := range p.causes {
		b = binary.LittleEndian.AppendUint32(b, c.gen)
		b = c.why.appendCause(b)
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
	if n > MaxRuns || n == 0 && !old || old != (p.forgotten > 0) || p.forgotten > MaxGen {
		return nil, fmt.Errorf("%d bytes for %d runs of poisoned events behind %d", len(b), n, p.forgotten)
	}
	b, err := p.parseRuns(n, b[head:])
	if err == nil {
		err = p.parseCauses(b)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// parseRuns decodes n runs, and returns the rest of b.
func (p *Poisons) parseRuns(n int, b []byte) (rest []byte, err error) {
	last := p.forgotten
	for range n {
		if len(b) < 8 {
			return nil, fmt.Errorf("%d bytes for a run of poisoned generations", len(b))
		}
		r := run{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), nil}
		if r.from <= last || r.to < r.from || r.to > MaxGen {
			return nil, fmt.Errorf("poisoned generations %d to %d behind those up to %d", r.from, r.to, last)
		}
		var d Poison
		if b, err = d.parseData(b[8:]); err != nil {
			return nil, err
		}
		r.data = d.data()
		p.runs = append(p.runs, r)
		last = r.to
	}
	return b, nil
}

// parseCauses decodes the causes. Each has the data of its run.
func (p *Poisons) parseCauses(b []byte) error {
	for len(b) > 0 {
		n := len(p.causes)
		if len(b) < 4 || n == maxCauses {
			return fmt.Errorf("%d bytes behind %d poisons", len(b), n)
		}
		gen := binary.LittleEndian.Uint32(b)
		r := p.runOf(gen)
		if n > 0 && gen <= p.causes[n-1].gen || r == nil {
			return fmt.Errorf("poison %d is of generation %d", n, gen)
		}
		why := &Poison{Errors: r.data.Errors, Refused: r.data.Refused, Rest: r.data.Rest}
		var err error
		if b, err = why.parseCause(b[4:]); err != nil {
			return err
		}
		p.causes = append(p.causes, cause{gen, why})
	}
	return nil
}
