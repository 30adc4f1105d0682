package exit

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Kind is the kind of a Message.
type Kind uint8

// The kinds of messages.
const (
	Told  Kind = 1 + iota // the job is to end
	Round                 // the greatest code of the sender and the 2^Round-1 ranks before it
	Abort                 // the job ends now, with this code; nothing is agreed on
)

// NoRank is the Rank of a Verdict that nobody has called for.
const NoRank = -1

// Verdict is an exit code and the rank it comes from.
type Verdict struct {
	Code uint8
	Rank int // or NoRank
}

// none is the verdict of a rank that was only told.
var none = Verdict{Rank: NoRank}

// worseOf returns the verdict with the greater code. Of equal codes it returns that of the lower rank, so that all
// ranks reach the same.
func worseOf(a, b Verdict) Verdict {
	switch {
	case a.Code != b.Code:
		if a.Code > b.Code {
			return a
		}
		return b
	case a.Rank == NoRank || b.Rank != NoRank && b.Rank < a.Rank:
		return b
	}
	return a
}

// Message is sent between ranks. Round is the round of a Round, else 0.
type Message struct {
	Kind    Kind
	Round   uint8
	Verdict Verdict
}

// MessageBytes is the length of a Message on the wire:
//
//	mark (1) | kind (1) | round (1) | code (1) | rank + 1 (4, little endian)
const MessageBytes = 8

const mark = 0xe7

// errMessage is wrapped by the errors of Parse.
var errMessage = errors.New("exit: malformed message")

// Append adds the message's bytes to b.
func (m Message) Append(b []byte) []byte {
	b = append(b, mark, byte(m.Kind), m.Round, m.Verdict.Code)
	return binary.LittleEndian.AppendUint32(b, uint32(m.Verdict.Rank+1))
}

// Parse reads a message from exactly the bytes that Append has written.
func Parse(b []byte) (Message, error) {
	if len(b) != MessageBytes || b[0] != mark {
		return Message{}, fmt.Errorf("%w: %d bytes %x", errMessage, len(b), b[:min(len(b), MessageBytes)])
	}
	rank := int64(binary.LittleEndian.Uint32(b[4:])) - 1
	m := Message{Kind: Kind(b[1]), Round: b[2], Verdict: Verdict{Code: b[3], Rank: int(rank)}}
	if m.Kind < Told || m.Kind > Abort || m.Round >= maxRounds || m.Kind != Round && m.Round != 0 {
		return Message{}, fmt.Errorf("%w: %x", errMessage, b)
	}
	return m, nil
}
