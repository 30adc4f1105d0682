package event

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
)

// MaxText is the longest text of a poison, in bytes, that travels.
const MaxText = 160

// NoRank is the rank of a poison whose origin is not known any more.
const NoRank = -1

var (
	noCause   = Poison{Rank: NoRank, Text: "poisoned; the cause has been forgotten"}
	noOutcome = Poison{Rank: NoRank, Text: "triggered; the outcome has been forgotten", Errors: Lost}
)

// mostNames is how many refused reservations String names.
const mostNames = 4

// String is the cause for people. Before it come the reservations that p has refused, the latest first.
func (p *Poison) String() string {
	if p.Refused == nil {
		return p.Text
	}
	var names []string
	for r := p.Refused; r != nil && len(names) < mostNames; r = r.rest {
		names = append(names, strings.TrimPrefix(r.id.String(), "reservation "))
	}
	list := strings.Join(names, ", ")
	if n := p.Refused.n - len(names); n > 0 {
		list += fmt.Sprintf(" and %d others", n)
	}
	return "reservation " + list + " not acquired: " + p.Text
}

// says tells whether p says all that q says. A poison from another rank has no error.
func (p *Poison) says(q *Poison) bool {
	if p == q {
		return true
	}
	return p.Rank == q.Rank && p.Text == q.Text && p.sameData(q) &&
		(q.Err == nil || reflect.ValueOf(q.Err).Comparable() && p.Err == q.Err)
}

func (p *Poison) sameData(q *Poison) bool {
	return p.Errors == q.Errors && p.Rest == q.Rest && p.Refused.equal(q.Refused)
}

// data is what is left of p when its cause is forgotten.
func (p *Poison) data() *Poison {
	if p.Errors == 0 && p.Refused == nil && p.Rest == 0 {
		return &noCause
	}
	d := noCause
	d.Errors, d.Refused, d.Rest = p.Errors, p.Refused, p.Rest
	return &d
}

// Before is p for an operation that is poisoned before rest has triggered.
func (p *Poison) Before(rest ID) *Poison {
	q := *p
	q.Rest = rest
	return &q
}

// Join is p with the reservations that q has refused. Where both have a Rest, the result is not known any more.
func (p *Poison) Join(q *Poison) *Poison {
	switch {
	case p == nil:
		return q
	case q == nil || q.Refused == nil && q.Rest == 0 && q.Errors&Lost == 0:
		return p
	}
	j := *p
	j.Refused = p.Refused.Join(q.Refused)
	if q.Errors&Lost != 0 { // with why, and where
		j.Errors |= q.Errors
		j.Rank = q.Rank
	}
	switch {
	case j.Rest == 0:
		j.Rest = q.Rest
	case q.Rest != 0 && q.Rest != j.Rest:
		j.Errors |= Lost
	}
	return &j
}

func (p *Poison) appendData(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, p.Errors)
	return p.Refused.appendTo(binary.LittleEndian.AppendUint64(b, uint64(p.Rest)))
}

func (p *Poison) appendCause(b []byte) []byte {
	text := p.Text
	if len(text) > MaxText {
		text = strings.ToValidUTF8(text[:MaxText], "") // the cut may be inside a character
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(p.Rank))
	b = append(b, byte(len(text)))
	return append(b, text...)
}

// parseData decodes what appendData has made, and returns the rest of b.
func (p *Poison) parseData(b []byte) (rest []byte, err error) {
	if len(b) < 12 {
		return nil, fmt.Errorf("a poison of %d bytes is cut off", len(b))
	}
	p.Errors, p.Rest = binary.LittleEndian.Uint32(b), ID(binary.LittleEndian.Uint64(b[4:]))
	p.Refused, rest, err = parseRefused(b[12:])
	return rest, err
}

// parseCause decodes what appendCause has made, and returns the rest of b.
func (p *Poison) parseCause(b []byte) (rest []byte, err error) {
	if len(b) < 5 || len(b) < 5+int(b[4]) {
		return nil, fmt.Errorf("a poison of %d bytes is cut off", len(b))
	}
	n := 5 + int(b[4])
	if n > 5+MaxText {
		return nil, fmt.Errorf("a poison has a text of %d bytes, more than %d", n-5, MaxText)
	}
	p.Rank, p.Text = int32(binary.LittleEndian.Uint32(b)), string(b[5:n])
	return b[n:], nil
}

// PoisonBytes is the most that Append makes of a poison that has refused nothing.
const PoisonBytes = 12 + refusedBytes + 5 + MaxText

// Append encodes the poison behind b, with at most MaxText bytes of its text. Its length also grows with the number of
// reservations that it has refused.
func (p *Poison) Append(b []byte) []byte { return p.appendCause(p.appendData(b)) }

// ParsePoison decodes what Append has made, and returns the rest of b.
func ParsePoison(b []byte) (p *Poison, rest []byte, err error) {
	p = new(Poison)
	if rest, err = p.parseData(b); err == nil {
		rest, err = p.parseCause(rest)
	}
	if err != nil {
		return nil, nil, err
	}
	return p, rest, nil
}
