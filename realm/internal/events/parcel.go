package events

import (
	"encoding/binary"
	"fmt"

	"github.com/golci/golci/am"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/fault"
)

// A poison that names many reservations may be too long for one message. The messages that carry poison go as a parcel
// then: the handler, the number of words, the words and the payload.

// messageFunc takes a message of rank src, of one piece or a parcel. The error is for one that cannot be.
type messageFunc func(k *Cascade, src int, args []uint64, payload []byte) error

// Carrier is a kind of message that may carry poison.
type Carrier struct {
	Words int // at least
	Take  messageFunc
}

// Short is the handler of messages of one piece that f takes.
func (rt *Rank) Short(f messageFunc) am.Handler {
	return func(t *am.Token, args []uint64, payload []byte) {
		k := rt.BeginCascade(t.Worker())
		err := f(k, t.Source(), args, payload)
		k.EndCascade(PollBudget)
		if err != nil {
			rt.Fatal(err)
		}
	}
}

// PostPoison is post of a message that may carry poison, of any length.
func (rt *Rank) PostPoison(peer int, h uint8, payload []byte, args ...uint64) {
	if len(payload) <= rt.Endpoint.MaxMedium() {
		rt.PostMessage(peer, h, payload, args...)
		return
	}
	b := make([]byte, 0, 2+8*len(args)+len(payload))
	b = append(b, h, byte(len(args)))
	for _, a := range args {
		b = binary.LittleEndian.AppendUint64(b, a)
	}
	k := rt.BeginCascade(nil)
	rt.SendParcel(k, peer, ParcelPoison, 0, append(b, payload...))
	k.EndCascade(CallBudget)
}

// OnLongPoison takes such a parcel.
func (rt *Rank) OnLongPoison(k *Cascade, src int, _ uint64, b []byte) error {
	if len(b) < 2 || len(b) < 2+8*int(b[1]) {
		return fault.ErrMalformed
	}
	h, n := b[0], int(b[1])
	c, ok := rt.Carriers[h]
	if !ok || n < c.Words {
		return fmt.Errorf("%w: %d words for handler %d", fault.ErrMalformed, n, h)
	}
	args := make([]uint64, n)
	for i := range args {
		args[i] = binary.LittleEndian.Uint64(b[2+8*i:])
	}
	return c.Take(k, src, args, b[2+8*n:])
}

// Impossible is the error for a message that no rank of the program sends.
func (rt *Rank) Impossible(src int, what string, e event.ID) error {
	return rt.CallErrorf("message", "rank %d sent %s %v, which cannot be", src, what, e)
}
