package event

import "fmt"

// ID names an event of a job, a phase of a barrier or a reservation. The zero ID is an event that has triggered.
type ID uint64

// Kind is what an ID names.
type Kind uint8

// Kinds.
const (
	None Kind = iota
	Event
	Barrier
	Reservation
)

// Bits of the parts of an ID. From the top: a tag (1, 0010 or 00000011), the rank, the index, the generation.
const (
	rankBits = 16

	eventIndexBits = 27
	eventGenBits   = 20

	barrierIndexBits = 24
	barrierGenBits   = 20

	reservationIndexBits = 40

	eventTag       = ID(1) << 63
	barrierTag     = ID(2) << 60
	reservationTag = ID(3) << 56
)

// What fits an ID.
const (
	MaxRanks        = 1 << rankBits
	MaxIndex        = 1<<eventIndexBits - 1   // of an event
	MaxGen          = 1<<eventGenBits - 1     // of an event; the first is 1
	MaxBarrierIndex = 1<<barrierIndexBits - 1 //
	MaxBarrierGen   = 1<<barrierGenBits - 1   // the first is 1
)

// MakeEvent is the ID of a generation of an event.
func MakeEvent(rank, index int, gen uint32) ID {
	return eventTag | ID(rank)<<(eventIndexBits+eventGenBits) | ID(index)<<eventGenBits | ID(gen)
}

// MakeBarrier is the ID of a phase of a barrier.
func MakeBarrier(rank, index int, gen uint32) ID {
	return barrierTag | ID(rank)<<(barrierIndexBits+barrierGenBits) | ID(index)<<barrierGenBits | ID(gen)
}

// MakeReservation is the ID of a reservation.
func MakeReservation(rank, index int) ID {
	return reservationTag | ID(rank)<<reservationIndexBits | ID(index)
}

// Kind tells what id names. A number that no Make function returns may have any kind.
func (id ID) Kind() Kind {
	switch {
	case id&eventTag != 0:
		return Event
	case id>>60 == barrierTag>>60:
		return Barrier
	case id>>56 == reservationTag>>56:
		return Reservation
	}
	return None
}

// Rank is the rank that has made what id names.
func (id ID) Rank() int {
	switch id.Kind() {
	case Event:
		return int(id >> (eventIndexBits + eventGenBits) & (MaxRanks - 1))
	case Barrier:
		return int(id >> (barrierIndexBits + barrierGenBits) & (MaxRanks - 1))
	default:
		return int(id >> reservationIndexBits & (MaxRanks - 1))
	}
}

// Index is the index among those of its kind on its rank.
func (id ID) Index() int {
	switch id.Kind() {
	case Event:
		return int(id >> eventGenBits & MaxIndex)
	case Barrier:
		return int(id >> barrierGenBits & MaxBarrierIndex)
	default:
		return int(id & (1<<reservationIndexBits - 1))
	}
}

// Gen is the generation of an event or barrier.
func (id ID) Gen() uint32 { return uint32(id & MaxGen) }

// String names the kind, the rank, the index and the generation.
func (id ID) String() string {
	switch id.Kind() {
	case Event:
		return fmt.Sprintf("event %d.%d.%d", id.Rank(), id.Index(), id.Gen())
	case Barrier:
		return fmt.Sprintf("barrier %d.%d.%d", id.Rank(), id.Index(), id.Gen())
	case Reservation:
		return fmt.Sprintf("reservation %d.%d", id.Rank(), id.Index())
	}
	if id == 0 {
		return "no event"
	}
	return fmt.Sprintf("unknown %#x", uint64(id))
}

// IsEvent tells whether id is one of an event, as made by MakeEvent.
func (id ID) IsEvent() bool { return id&eventTag != 0 }

// EventRank is Rank of an event.
func (id ID) EventRank() int {
	return int(id >> (eventIndexBits + eventGenBits) & (MaxRanks - 1))
}

// EventIndex is Index of an event.
func (id ID) EventIndex() int { return int(id >> eventGenBits & MaxIndex) }
