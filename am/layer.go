package am

import (
	"errors"
	"fmt"

	"github.com/golci/golci/fult"
)

// ErrTaken is an error of Attach and Register, for errors.Is: another layer has what was asked for.
var ErrTaken = errors.New("am: taken by another layer")

// Layer is what a package that works on an endpoint registers there, by one call of Attach. Several layers share an
// endpoint, and none knows of another. All ranks attach the same layers: indices and ids travel.
type Layer struct {
	Name string // tells the layer from others in errors
	// First is the index of the first of Handlers; the others follow. One without Run keeps its index free.
	First    uint8
	Handlers []Spec
	// Quick, if not nil, is offered the commonest records for the handler First before that runs.
	Quick FastReceiver
	// Bulk gets the pieces of every Bulk that a peer sends with this Channel, from 0 to BulkChannels-1. It is called by
	// the poller, in a poll, must not block and must not keep chunk. nil: the layer takes no bulk data.
	Bulk    BulkFunc
	Channel uint8
	// Tick, if not nil, is called by the poller, in polls that may find something and, after WantTick(true), in every
	// poll. w is the polling worker, or nil.
	Tick func(w *fult.Worker)
	// Held, if not nil, is called in every poll while the layer holds messages back (Hold), maybe by several callers at
	// once. It sends those that it is time for, and returns how many. It must not block. w is the polling worker, or
	// nil.
	Held func(w *fult.Worker) int
	// PeerGone, if not nil, is called once for each peer that has failed, for the reason err: by the poller, in a poll,
	// after all that the peer sent has been handled and what was queued towards it has ended. It must not block.
	PeerGone func(peer int, err error, w *fult.Worker)
}

// FastReceiver takes requests in the fewest steps. One layer of an endpoint has it.
type FastReceiver interface {
	// RecvQuickly is offered an ordered request of rank src with one argument and a payload. seq is its number, as
	// Token.Seq gives it. It runs where a Handler would, under the same rules; w is the polling worker, or nil. False
	// means that it has done nothing, and the handler runs.
	RecvQuickly(src int, seq uint16, arg uint64, payload []byte, w *fult.Worker) bool
}

// BulkFunc takes a piece of the Bulk with that ID of rank src. off is the offset of its first byte.
type BulkFunc func(src int, id uint64, off int64, chunk []byte, w *fult.Worker)

// A bulk id, as it travels, is the channel and the ID of the Bulk.
const (
	channelShift = 61
	channelLongs = 1<<(64-channelShift) - 1 // of the payloads of split Longs

	BulkChannels = channelLongs        // how many layers may take bulk data
	MaxBulkID    = 1<<channelShift - 1 // the greatest ID of a Bulk
)

// registry says which layer has which indices and which channel. It is used at set-up only.
type registry struct {
	handlers [256]string
	channels [BulkChannels + 1]string
}

// Attach registers a layer. It is to be called before the first message for the layer can arrive, from one goroutine.
// It does not block. An error has had no effect. Errors: ErrTaken, naming both layers; ErrHandler for handlers that
// cannot be; ErrSize for replies that are too long, and for a channel that does not exist.
func (e *Endpoint) Attach(l Layer) error {
	if err := e.checkClaim(&l); err != nil {
		return fmt.Errorf("am: rank %d: layer %q: %w", e.rank, l.Name, err)
	}
	for i, s := range l.Handlers {
		e.layers.handlers[int(l.First)+i], e.specs[int(l.First)+i] = l.Name, s
	}
	if l.Quick != nil {
		e.recv.quick, e.recv.commonest = l.Quick, word0(0, l.First, flagOrdered|flagMedium, 1)
	}
	if l.Bulk != nil {
		e.layers.channels[l.Channel], e.bulks[l.Channel] = l.Name, l.Bulk
	}
	if l.Tick != nil {
		e.ticks = append(e.ticks, l.Tick)
	}
	if l.Held != nil {
		e.helds = append(e.helds, l.Held)
	}
	if l.PeerGone != nil {
		e.gones = append(e.gones, l.PeerGone)
	}
	return nil
}

// checkClaim tells whether l may have all that it asks for.
func (e *Endpoint) checkClaim(l *Layer) error {
	if l.Name == "" {
		return fmt.Errorf("%w: a layer needs a name", ErrHandler)
	}
	if last := int(l.First) + len(l.Handlers) - 1; last > lastHandler {
		return fmt.Errorf("%w: indices %d to %d, the last is %d", ErrHandler, l.First, last, lastHandler)
	}
	for i, s := range l.Handlers {
		index := int(l.First) + i
		if by := e.layers.handlers[index]; by != "" {
			return fmt.Errorf("%w: handler index %d (%s) belongs to %q", ErrTaken, index, s.Name, by)
		}
		if s.MaxReply > e.MaxMedium() {
			return fmt.Errorf("%w: handler %d (%s) wants replies of %d bytes, the most is %d",
				ErrSize, index, s.Name, s.MaxReply, e.MaxMedium())
		}
	}
	if l.Quick != nil && e.recv.quick != nil {
		return fmt.Errorf("%w: quick requests", ErrTaken)
	}
	if l.Bulk == nil {
		return nil
	}
	if int(l.Channel) >= len(e.bulks) {
		return fmt.Errorf("%w: bulk channel %d, the last is %d", ErrSize, l.Channel, BulkChannels-1)
	}
	if by := e.layers.channels[l.Channel]; by != "" {
		return fmt.Errorf("%w: bulk channel %d belongs to %q", ErrTaken, l.Channel, by)
	}
	return nil
}

// Register attaches a layer of one handler, which names it. Errors: those of Attach; ErrHandler without Run.
func (e *Endpoint) Register(index uint8, s Spec) error {
	if s.Run == nil {
		return fmt.Errorf("%w: index %d (%s) has no function", ErrHandler, index, s.Name)
	}
	return e.Attach(Layer{Name: s.Name, First: index, Handlers: []Spec{s}})
}
