// Package simlink is a simulated network in virtual time, for tests and simulations of package reliable. It carries
// packets between numbered ends; a Fate decides when they arrive. Time jumps from one event to the next. It reads no
// clock and starts nothing. Ends and a Fate that repeat themselves repeat the run. A Fate may be made of a Link, which
// is a rate with a queue and a delay. It may also be made of a badnet.Fate, which loses, reorders and repeats packets.
package simlink

import (
	"math"
	"time"

	"github.com/golci/golci/internal/transport/badnet"
)

// Never is later than any time.
const Never = time.Duration(math.MaxInt64)

// End is what sends and receives packets.
type End interface {
	// Incoming takes in a packet of the end src. The packet is the Net's again when Incoming returns.
	Incoming(src int, packet []byte, now time.Duration)
	// Next is the time at which the end is to be polled if nothing arrives before; Never: it is not.
	Next() time.Duration
	// Poll lets the end send what there is to be sent, with Net.Send.
	Poll(now time.Duration)
}

// Fate decides on a packet from src to dst. It returns the times at which it arrives, none before now. No time: it is
// lost; several: it is repeated. A Fate may alter the packet, which then arrives so.
type Fate func(src, dst int, packet []byte, now time.Duration) []time.Duration

// Net is a network and its ends, for one goroutine. The zero value with a Fate is ready for use.
type Net struct {
	// Now is the virtual time since the beginning. Between two calls it may be put forward: then nobody was polled
	// meanwhile.
	Now time.Duration
	// Fate decides on each packet. It may be changed at any time.
	Fate Fate

	ends   []End
	away   badnet.Queue[flight]
	memory badnet.Buffers // of packets
}

// flight is a packet on its way.
type flight struct {
	src, dst int
	packet   []byte
}

// Join makes e an end and returns its number: how many there were before.
func (n *Net) Join(e End) int {
	n.ends = append(n.ends, e)
	return len(n.ends) - 1
}

// Send gives a packet to the Fate, copies it for each arrival, and returns the number of arrivals; 0: it is lost. Ends
// call it in Poll. The packet is the caller's again afterwards. dst must have joined.
func (n *Net) Send(src, dst int, packet []byte) (arrivals int) {
	times := n.Fate(src, dst, packet, n.Now)
	for _, at := range times {
		n.away.Push(at, flight{src, dst, n.memory.Copy(packet)})
	}
	return len(times)
}

// Deliver gives the ends what has arrived by now.
func (n *Net) Deliver() {
	for {
		f, _, ok := n.away.Pop(n.Now)
		if !ok {
			return
		}
		n.ends[f.dst].Incoming(f.src, f.packet, n.Now)
		n.memory.Free(f.packet)
	}
}

// Poll polls all ends, by their numbers.
func (n *Net) Poll() {
	for _, e := range n.ends {
		e.Poll(n.Now)
	}
}

// Step goes to the next arrival, or to the next time at which an end is to be polled. It delivers what has arrived and
// polls all ends. If there is none before end, it goes to end, does nothing there, and returns false.
func (n *Net) Step(end time.Duration) bool {
	next := end
	if at, ok := n.away.Next(); ok {
		next = min(next, at)
	}
	for _, e := range n.ends {
		next = min(next, e.Next())
	}
	n.Now = max(n.Now, next)
	if n.Now >= end {
		return false
	}
	n.Deliver()
	n.Poll()
	return true
}

// Run polls all ends and then steps until end.
func (n *Net) Run(end time.Duration) {
	n.Poll()
	for n.Step(end) {
	}
}
