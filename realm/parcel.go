package realm

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
type messageFunc func(k *cascade, src int, args []uint64, payload []byte) error

// carrier is a kind of message that may carry poison.
type carrier struct {
	words int // at least
	take  messageFunc
}

// short is the handler of messages of one piece that f takes.
func (rt *rankEvents) short(f messageFunc) am.Handler {
	return func(t *am.Token, args []uint64, payload []byte) {
		k := rt.beginCascade(t.Worker())
		err := f(k, t.Source(), args, payload)
		k.endCascade(pollBudget)
		if err != nil {
			rt.fatal(err)
		}
	}
}

// postPoison is post of a message that may carry poison, of any length.
func (rt *rankEvents) postPoison(peer int, h uint8, payload []byte, args ...uint64) {
	if len(payload) <= rt.ep.MaxMedium() {
		rt.postMessage(peer, h, payload, args...)
		return
	}
	b := make([]byte, 0, 2+8*len(args)+len(payload))
	b = append(b, h, byte(len(args)))
	for _, a := range args {
		b = binary.LittleEndian.AppendUint64(b, a)
	}
	k := rt.beginCascade(nil)
	rt.sendParcel(k, peer, parcelPoison, 0, append(b, payload...))
	k.endCascade(callBudget)
}

// onLongPoison takes such a parcel.
func (rt *rankEvents) onLongPoison(k *cascade, src int, b []byte) error {
	if len(b) < 2 || len(b) < 2+8*int(b[1]) {
		return fault.ErrMalformed
	}
	h, n := b[0], int(b[1])
	c, ok := rt.carriers[h]
	if !ok || n < c.words {
		return fmt.Errorf("%w: %d words for handler %d", fault.ErrMalformed, n, h)
	}
	args := make([]uint64, n)
	for i := range args {
		args[i] = binary.LittleEndian.Uint64(b[2+8*i:])
	}
	return c.take(k, src, args, b[2+8*n:])
}

// impossible is the error for a message that no rank of the program sends.
func (rt *rankEvents) impossible(src int, what string, e event.ID) error {
	return rt.callErrorf("message", "rank %d sent %s %v, which cannot be", src, what, e)
}
