package reliable

import (
	"encoding/binary"
	"fmt"
	"time"

	core "github.com/golci/golci/internal/transport/reliable"
)

// node is one rank: its endpoint, what goes into it, and what has come of that.
type node struct {
	w       *world
	id      int
	core    *core.Endpoint
	scratch []byte
	traffic *traffic // nil: none

	// Of a sender: its messages by number, of which the receiver keeps the books.
	left      []int32         // bytes of each that have not arrived
	due       []time.Duration // when each was to be sent
	took      []time.Duration // how long those took that have arrived, from when they were due
	delivered uint64          // bytes that have arrived
	taken     int             // messages that the core has, their data being ours again only
	ended     int             // when they have ended

	err error // the first thing that must not happen
}

func (n *node) fault(format string, a ...any) {
	if n.err == nil {
		n.err = fmt.Errorf("%w: rank %d at %v: "+format, append([]any{ErrTotals, n.id, n.w.Now}, a...)...)
	}
}

// send offers the next message, which was to leave at due; false if the core has no room for it.
func (n *node) send(data []byte, due time.Duration) bool {
	id := len(n.left)
	st := n.core.Send(n.w.receiver().id, core.Message{Data: data, Put: true, Place: uint64(id), ID: uint64(id)}, n.w.Now)
	switch st {
	case core.Full:
		return false
	case core.Taken:
		n.taken++
	case core.Copied:
	default:
		n.fault("message %d: %v", id, st)
		return false
	}
	n.left = append(n.left, int32(len(data)))
	n.due = append(n.due, due)
	return true
}

func (n *node) open() int { return len(n.left) - len(n.took) + n.taken - n.ended }

func (n *node) totals() error {
	if n.err == nil && n.open() > 0 {
		n.fault("%d of %d messages have arrived, %d of %d ended", len(n.took), len(n.left), n.ended, n.taken)
	}
	if all := uint64(len(n.left)) * uint64(n.w.cfg.Size); n.err == nil && n.delivered != all {
		n.fault("%d of %d bytes have arrived", n.delivered, all)
	}
	return n.err
}

// Put gets a piece of a message from the core of the receiver.
func (n *node) Put(peer int, _ uint8, place, _ uint64, piece []byte) {
	from := n.w.nodes[peer]
	if place >= uint64(len(from.left)) || int(from.left[place]) < len(piece) {
		n.fault("%d bytes too many of message %d from %d", len(piece), place, peer)
		return
	}
	from.left[place] -= int32(len(piece))
	from.delivered += uint64(len(piece))
	if from.left[place] == 0 {
		from.took = append(from.took, n.w.Now-from.due[place])
	}
}

// Message is for what nobody sends here.
func (n *node) Message(peer int, _ uint8, data []byte) {
	n.fault("a message of %d bytes from %d, which sends only puts", len(data), peer)
}

// Ended gives a message back.
func (n *node) Ended(peer int, id uint64, err error) {
	if n.ended++; err != nil {
		n.fault("message %d to %d: %v", id, peer, err)
	}
}

// Dead reports a peer that the core has given up, which none is.
func (n *node) Dead(peer int, err error) { n.fault("peer %d is dead: %v", peer, err) }

// Room is where the core writes packets.
func (n *node) Room(_, size int) []byte { return n.scratch[:size] }

// Packet takes a packet of the core to the network.
func (n *node) Packet(peer int, _ uint64, _ core.Channel, packet []byte) {
	body := uint64(bodySize(packet))
	n.w.sent += body
	if n.w.Send(n.id, peer, packet) == 0 {
		n.w.lost += body
	}
}

// Incoming takes a packet of the network to the core.
func (n *node) Incoming(src int, packet []byte, now time.Duration) { n.core.Incoming(src, packet, now) }

// Next is when the core or the traffic has something to do.
func (n *node) Next() time.Duration { return min(n.core.NextTimer(), n.wakes()) }

const budget = 64

// Poll sends what there is.
func (n *node) Poll(now time.Duration) {
	if n.traffic != nil {
		n.traffic.feed(n)
	}
	n.core.Outgoing(now, budget, n)
}

// bodySize reads from a packet's header how many bytes of messages it carries (docs/design/reliable.md).
func bodySize(packet []byte) int {
	const flagSegment = 1
	if packet[1]&flagSegment == 0 {
		return 0
	}
	return int(binary.BigEndian.Uint16(packet[14:]))
}
