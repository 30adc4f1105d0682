package event

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// MaxRuns is how many runs of poisoned generations a slot remembers. It is retired then.
const MaxRuns = 16

// MaxText is the longest text of a poison, in bytes, that travels.
const MaxText = 160

// Poisons are the poisoned generations of one event: runs of generations in a row, oldest first. A program that only
// creates and cancels needs one run. The zero value has none.
type Poisons struct {
	runs []run
}

// run has generations from to to. why is the poison of the last.
type run struct {
	from, to uint32
	why      *Poison
}

// Add notes that gen, which is greater than all before, has been poisoned.
func (p *Poisons) Add(gen uint32, why *Poison) {
	if n := len(p.runs); n > 0 && p.runs[n-1].to+1 == gen {
		p.runs[n-1].to, p.runs[n-1].why = gen, why
		return
	}
	p.runs = append(p.runs, run{gen, gen, why})
}

// Find is the poison of gen, or of a later one of the same run; nil if gen has none.
func (p *Poisons) Find(gen uint32) *Poison {
	if p == nil {
		return nil
	}
	for i := len(p.runs) - 1; i >= 0 && p.runs[i].to >= gen; i-- {
		if p.runs[i].from <= gen {
			return p.runs[i].why
		}
	}
	return nil
}

// Full tells whether there is no place for another run.
func (p *Poisons) Full() bool { return p != nil && len(p.runs) >= MaxRuns }

// Clone is a copy.
func (p *Poisons) Clone() *Poisons {
	if p == nil || len(p.runs) == 0 {
		return nil
	}
	return &Poisons{slices.Clone(p.runs)}
}

// Append encodes all runs behind b: of each the generations and the poison.
func (p *Poisons) Append(b []byte) []byte {
	if p == nil {
		return b
	}
	for _, r := range p.runs {
		b = binary.LittleEndian.AppendUint32(b, r.from)
		b = binary.LittleEndian.AppendUint32(b, r.to)
		b = r.why.Append(b)
	}
	return b
}

// ParsePoisons decodes what Append has made.
func ParsePoisons(b []byte) (*Poisons, error) {
	if len(b) == 0 {
		return nil, nil
	}
	p := new(Poisons)
	for last := uint32(0); len(b) > 0; {
		if len(b) < 8 {
			return nil, fmt.Errorf("%d bytes at the end of a list of poisoned events", len(b))
		}
		r := run{from: binary.LittleEndian.Uint32(b), to: binary.LittleEndian.Uint32(b[4:])}
		if r.from <= last || r.to < r.from || r.to > MaxGen || len(p.runs) == MaxRuns {
			return nil, fmt.Errorf("poisoned generations %d to %d behind %d runs up to %d", r.from, r.to, len(p.runs), last)
		}
		var err error
		if r.why, b, err = ParsePoison(b[8:]); err != nil {
			return nil, err
		}
		p.runs = append(p.runs, r)
		last = r.to
	}
	return p, nil
}

// Append encodes the poison behind b, with at most MaxText bytes of its text.
func (p *Poison) Append(b []byte) []byte {
	text := p.Text[:min(len(p.Text), MaxText)]
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
	return &Poison{Rank: int32(binary.LittleEndian.Uint32(b)), Text: string(b[5:n])}, b[n:], nil
}
