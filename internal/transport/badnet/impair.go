// Package badnet impairs a network on purpose. It reads no clock and has its own random numbers: the same seed does the
// same again. Faults describe the network, Fate decides about each packet, and Impair carries it out: packets and times
// in, packets and times out.
package badnet

import (
	"errors"
	"fmt"
	"time"
)

// Faults says how bad it is. The zero value changes nothing. Chances are between 0 and 1, each for one packet.
type Faults struct {
	// Seed decides everything random. What happens to the k-th packet follows from Seed and k, and for bursts from the
	// packets before. It does not depend on times or the other chances.
	Seed uint64
	// Loss is the part of packets that are lost, below 1 if Burst is above 1. Burst is how many are lost in a row on
	// average. 0 and 1: each packet by itself.
	Loss  float64
	Burst float64
	// Dup is the chance that a packet comes twice. Corrupt is the chance that one of its bits flips, Truncate that
	// its end is missing.
	Dup, Corrupt, Truncate float64
	// Delay is added to each packet, and a random part of Jitter. Order is kept, but for those hit by Reorder: these
	// come ReorderBy later than they would, and others overtake them. ReorderBy of 0 is 1 ms.
	Delay, Jitter time.Duration
	Reorder       float64
	ReorderBy     time.Duration
	// CutAfter is the time from the first packet after which all packets are lost; 0: never. HealAfter is for how long;
	// 0: for good.
	CutAfter, HealAfter time.Duration
	// Queue is how many packets are held at most; 0: 65536. What exceeds it is lost.
	Queue int
}

// ErrFaults is matched by every error about Faults.
var ErrFaults = errors.New("bad faults")

const (
	defaultQueue     = 1 << 16
	defaultReorderBy = time.Millisecond
)

// checkFaults fills in the defaults and refuses invalid values.
func (f *Faults) checkFaults() error {
	for _, c := range []struct {
		name  string
		value float64
	}{{"loss", f.Loss}, {"dup", f.Dup}, {"corrupt", f.Corrupt}, {"truncate", f.Truncate}, {"reorder", f.Reorder}} {
		if !(c.value >= 0 && c.value <= 1) {
			return fmt.Errorf("%w: %s %v is not between 0 and 1", ErrFaults, c.name, c.value)
		}
	}
	if min(f.Delay, f.Jitter, f.ReorderBy, f.CutAfter, f.HealAfter) < 0 || f.Queue < 0 {
		return fmt.Errorf("%w: a time or the queue is below 0", ErrFaults)
	}
	if f.Burst == 0 {
		f.Burst = 1
	}
	// A run of losses ends with chance 1/Burst, and must begin with a chance of at most 1.
	if !(f.Burst >= 1) || f.Burst > 1 && f.Loss > f.Burst/(f.Burst+1) {
		return fmt.Errorf("%w: loss of %v in bursts of %v", ErrFaults, f.Loss, f.Burst)
	}
	if f.Queue == 0 {
		f.Queue = defaultQueue
	}
	if f.ReorderBy == 0 {
		f.ReorderBy = defaultReorderBy
	}
	return nil
}

// Counts has the counters. Packets = Delivered - Duplicated + Lost + Cut + Overflowed + those still held.
type Counts struct {
	Packets, Bytes                              uint64 // came in
	Delivered, DeliveredBytes                   uint64 // went out, twice where duplicated
	Lost, Cut, Overflowed                       uint64
	Duplicated, Reordered, Corrupted, Shortened uint64
}

// Impair is one direction of a bad link. It has one owner at a time.
type Impair struct {
	fate    Fate
	count   Counts
	started bool
	start   time.Duration // when the first packet came
	newest  time.Duration // due time of the last packet that keeps its order
	held    Queue[Packet]
	memory  Buffers
}

// New makes a direction. The error matches ErrFaults.
func New(f Faults) (*Impair, error) {
	t, err := NewFate(f)
	if err != nil {
		return nil, err
	}
	return &Impair{fate: *t}, nil
}

// Push takes a copy of a packet that comes at now, on any clock that does not go back. It does not block.
func (i *Impair) Push(now time.Duration, packet []byte) {
	if !i.started {
		i.started, i.start = true, now
	}
	v, f := i.fate.nextVerdict(), &i.fate.f
	i.count.Packets++
	i.count.Bytes += uint64(len(packet))
	switch {
	case i.isCut(now - i.start):
		i.count.Cut++
		return
	case v.lost:
		i.count.Lost++
		return
	case i.held.Len() >= f.Queue:
		i.count.Overflowed++
		return
	}
	due := now + f.Delay + time.Duration(v.jitter*float64(f.Jitter))
	if v.reorder {
		i.count.Reordered++
		due += f.ReorderBy
	} else {
		due = max(due, i.newest)
		i.newest = due
	}
	i.holdPacket(due, i.damagePacket(packet, v))
	if v.dup && i.held.Len() < f.Queue {
		i.count.Duplicated++
		i.holdPacket(due, i.damagePacket(packet, v))
	}
}

// isCut says whether the link is down, so long after the first packet.
func (i *Impair) isCut(age time.Duration) bool {
	f := &i.fate.f
	return f.CutAfter > 0 && age >= f.CutAfter && (f.HealAfter == 0 || age-f.CutAfter < f.HealAfter)
}

// damagePacket copies a packet, with a bit flipped or the end missing.
func (i *Impair) damagePacket(packet []byte, v verdict) []byte {
	b := i.memory.Copy(packet)
	if v.corrupt && len(b) > 0 {
		i.count.Corrupted++
		bit := v.bit % uint64(len(b)*8)
		b[bit/8] ^= 1 << (bit % 8)
	}
	if v.truncate && len(b) > 0 {
		i.count.Shortened++
		b = b[:v.detail%uint64(len(b))]
	}
	return b
}

func (i *Impair) holdPacket(due time.Duration, data []byte) {
	i.held.Push(due, Packet{Data: data, Due: due, Number: i.count.Packets - 1})
}

// Packet is a packet that comes out.
type Packet struct {
	Data   []byte
	Due    time.Duration
	Number uint64 // of the packet that was pushed; the first is 0
}

// Next tells when the next packet is due; false if none is held.
func (i *Impair) Next() (due time.Duration, ok bool) { return i.held.Next() }

// Take gives the next packet that is due at now or before; false if there is none. Its data is the caller's until it is
// given to Free.
func (i *Impair) Take(now time.Duration) (p Packet, ok bool) {
	if p, _, ok = i.held.Pop(now); ok {
		i.count.Delivered++
		i.count.DeliveredBytes += uint64(len(p.Data))
	}
	return p, ok
}

// Free gives back the memory of a packet that Take gave, so that a later one can lie in it.
func (i *Impair) Free(data []byte) { i.memory.Free(data) }

// Counts tells what was done so far.
func (i *Impair) Counts() Counts { return i.count }

// Pushed is how many packets were pushed so far, which is the number of the next (Packet.Number).
func (i *Impair) Pushed() uint64 { return i.count.Packets }

// Add adds what o tells.
func (c *Counts) Add(o Counts) {
	c.Packets += o.Packets
	c.Bytes += o.Bytes
	c.Delivered += o.Delivered
	c.DeliveredBytes += o.DeliveredBytes
	c.Lost += o.Lost
	c.Cut += o.Cut
	c.Overflowed += o.Overflowed
	c.Duplicated += o.Duplicated
	c.Reordered += o.Reordered
	c.Corrupted += o.Corrupted
	c.Shortened += o.Shortened
}
