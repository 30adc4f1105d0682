// Package gather says how every rank gets a value of every other in ceil(log2 N) rounds. It is a pure state machine: it
// knows whose values travel, not what they are.
//
// In round k a rank sends what it has to the rank at distance 2^k round the circle, at most as much as that one lacks.
// What a rank has are always the values of itself and of the ranks before it. So each rank sends to ceil(log2 N)
// others, and N-1 values in all. These others are among those that a rank asks the launcher for in any case.
package gather

import (
	"errors"
	"fmt"
	"math/bits"
)

// ErrPiece is wrapped by the errors of Take.
var ErrPiece = errors.New("gather: a piece that cannot come")

// Piece is some values: those of Count ranks from First on, going round, in round Round.
type Piece struct {
	Round, First, Count int
}

// Send is what a rank has to send: a piece, to rank To.
type Send struct {
	To int
	Piece
}

// maxRounds bounds the rounds: ceil(log2 N) for any N that fits 32 bits.
const maxRounds = 32

// Machine is one rank's part. It is not safe for concurrent use. Its size does not depend on the number of ranks.
type Machine struct {
	rank, size, rounds int
	round              int            // the round whose values are being waited for
	received           [maxRounds]int // by round, values that have come
}

// New makes the machine of one rank. Error: a rank outside the job.
func New(rank, size int) (*Machine, error) {
	if size < 1 || rank < 0 || rank >= size || int64(size) > 1<<31 {
		return nil, fmt.Errorf("gather: rank %d in a job of %d", rank, size)
	}
	return &Machine{rank: rank, size: size, rounds: bits.Len(uint(size - 1))}, nil
}

// Begin is what a rank sends first; nothing in a job of one rank.
func (m *Machine) Begin() []Send {
	if m.rounds == 0 {
		return nil
	}
	return []Send{m.sendOf(0)}
}

// Take takes in a piece from a rank, and returns what is to be sent then. Pieces of one round come in order, those of a
// later round may come before. The error wraps ErrPiece: it cannot have been sent.
func (m *Machine) Take(from int, p Piece) ([]Send, error) {
	if p.Round < 0 || p.Round >= m.rounds || m.senderOf(p.Round) != from {
		return nil, fmt.Errorf("%w: round %d from rank %d at rank %d of %d", ErrPiece, p.Round, from, m.rank, m.size)
	}
	got := &m.received[p.Round]
	if want := m.firstAfter(from, p.Round, *got); p.First != want || p.Count < 1 || p.Count > m.countIn(p.Round)-*got {
		return nil, fmt.Errorf("%w: %d values from rank %d on in round %d from rank %d at rank %d of %d, "+
			"want up to %d from rank %d on",
			ErrPiece, p.Count, p.First, p.Round, from, m.rank, m.size, m.countIn(p.Round)-*got, want)
	}
	*got += p.Count
	return m.advanceRounds(), nil
}

// advanceRounds goes through the rounds whose values have come.
func (m *Machine) advanceRounds() (out []Send) {
	for m.round < m.rounds && m.received[m.round] == m.countIn(m.round) {
		if m.round++; m.round < m.rounds {
			out = append(out, m.sendOf(m.round))
		}
	}
	return out
}

// Over tells that all values have come.
func (m *Machine) Over() bool { return m.round == m.rounds }

// Waiting is the rank whose values come next; false if all have come.
func (m *Machine) Waiting() (rank int, ok bool) {
	if m.Over() {
		return 0, false
	}
	return m.senderOf(m.round), true
}

// countIn is how many values travel in round k: as many as the sender has, or as the receiver lacks.
func (m *Machine) countIn(k int) int { return min(1<<k, m.size-1<<k) }

// firstAfter is the rank whose value comes after so many others in round k from a rank.
func (m *Machine) firstAfter(from, k, after int) int {
	return (from - m.countIn(k) + 1 + after + m.size) % m.size
}

func (m *Machine) senderOf(k int) int { return (m.rank + m.size - 1<<k) % m.size }

func (m *Machine) sendOf(k int) Send {
	return Send{(m.rank + 1<<k) % m.size, Piece{k, m.firstAfter(m.rank, k, 0), m.countIn(k)}}
}
