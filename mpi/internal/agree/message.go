package agree

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/golci/golci/mpi/internal/errs"
)

// Value is what ranks agree on.
type Value struct {
	Flag   uint64 // And of the flags of those who took part
	Failed Set    // ranks that have failed
	Acked  Set    // failures that all who took part had acknowledged
}

// Unacked is the failures that somebody had not acknowledged. If there are any, the call is to fail.
func (v Value) Unacked() Set { return v.Failed.subtractSet(v.Acked) }

func (v Value) clone() Value { return Value{v.Flag, slices.Clone(v.Failed), slices.Clone(v.Acked)} }

// combineWith makes v the value of both.
func (v *Value) combineWith(w Value) {
	v.Flag &= w.Flag
	v.Failed.Join(w.Failed)
	v.Acked.intersectWith(w.Acked)
}

// Kind is the kind of a message.
type Kind uint8

// Kinds of messages.
const (
	Vote    Kind = iota // to the coordinator: what the sender brings, has locked, or knows to be decided
	Propose             // from the coordinator: the value is to be locked
	Ack                 // to the coordinator: it is locked
	Decide              // the value is decided
	kinds
)

// String is the name of the kind.
func (k Kind) String() string { return [...]string{"vote", "propose", "ack", "decide"}[k] }

// Stage is what a rank knows of a value.
type Stage uint8

// Stages of values, in their order.
const (
	Brought Stage = iota // by the sender
	Locked               // by the sender; it may be decided
	Decided
	stages
)

// Message is what ranks tell each other.
type Message struct {
	Number uint64 // of the agreement on the communicator, from 0 on
	Kind   Kind
	Stage  Stage // of Value at the sender
	Round  int   // the rank that is coordinator
	Value  Value
}

// Append appends the message in bytes, which Parse reads.
func (m Message) Append(b []byte) []byte {
	b = append(b, byte(m.Kind)<<2|byte(m.Stage))
	b = binary.AppendUvarint(b, m.Number)
	b = binary.AppendUvarint(b, uint64(m.Round))
	if m.Kind == Ack {
		return b
	}
	b = binary.LittleEndian.AppendUint64(b, m.Value.Flag)
	return m.Value.Acked.appendTo(m.Value.Failed.appendTo(b))
}

// Parse reads a message about a communicator of so many ranks. errs.Intern: it is none.
func Parse(b []byte, ranks int) (m Message, err error) {
	bad := fmt.Errorf("%w: no message of an agreement of %d ranks: %x", errs.Intern, ranks, b[:min(len(b), 40)])
	if len(b) == 0 || b[0]>>2 >= byte(kinds) || b[0]&3 >= byte(stages) {
		return m, bad
	}
	m.Kind, m.Stage = Kind(b[0]>>2), Stage(b[0]&3)
	var words [2]uint64
	b = b[1:]
	for i := range words {
		n := 0
		if words[i], n = binary.Uvarint(b); n <= 0 {
			return m, bad
		}
		b = b[n:]
	}
	if words[1] >= uint64(ranks) {
		return m, bad
	}
	m.Number, m.Round = words[0], int(words[1])
	if m.Kind == Ack {
		if len(b) != 0 {
			return m, bad
		}
		return m, nil
	}
	if len(b) < 8 {
		return m, bad
	}
	m.Value.Flag = binary.LittleEndian.Uint64(b)
	var ok [2]bool
	m.Value.Failed, b, ok[0] = parseSet(b[8:], ranks)
	m.Value.Acked, b, ok[1] = parseSet(b, ranks)
	if !ok[0] || !ok[1] || len(b) != 0 {
		return m, bad
	}
	return m, nil
}
