package reliable

import "time"

// hotel keeps the segments of one peer whose timers run, as usnic does: rooms, a stack of free rooms, and check-in and
// check-out in O(1). The rooms of a floor (channel) are linked in the order of check-in, which is that of the
// transmissions. So the first guest to time out, or to be overtaken, is always at the head.
type hotel struct {
	rooms  []room
	free   []int32 // a stack: the room left last is taken first, while it is in the cache
	floors [channels]floor
	most   int // rooms there may be
	guests int
}

type room struct {
	guest      *segment
	prev, next int32 // on the floor; none at the ends
	floor      Channel
}

type floor struct{ head, tail int32 }

const none = -1

func newHotel(most int) hotel {
	return hotel{most: most, floors: [channels]floor{{none, none}, {none, none}}}
}

// checkIn gives s a room at the end of a floor and starts its timer. The hotel must not be full.
func (h *hotel) checkIn(s *segment, ch Channel, now time.Duration) {
	var n int32
	if k := len(h.free); k > 0 {
		n, h.free = h.free[k-1], h.free[:k-1]
	} else {
		n = int32(len(h.rooms))
		h.rooms = append(h.rooms, room{})
	}
	f := &h.floors[ch]
	h.rooms[n] = room{guest: s, prev: f.tail, next: none, floor: ch}
	if f.tail == none {
		f.head = n
	} else {
		h.rooms[f.tail].next = n
	}
	f.tail = n
	h.guests++
	s.room, s.sent = n, now
}

// checkOut stops the timer of s, if it runs.
func (h *hotel) checkOut(s *segment) {
	if s.room == none {
		return
	}
	r := &h.rooms[s.room]
	f := &h.floors[r.floor]
	if r.prev == none {
		f.head = r.next
	} else {
		h.rooms[r.prev].next = r.next
	}
	if r.next == none {
		f.tail = r.prev
	} else {
		h.rooms[r.next].prev = r.prev
	}
	r.guest = nil
	h.free = append(h.free, s.room)
	s.room = none
	h.guests--
}

// firstGuest is the guest of a floor that checked in first, or nil.
func (h *hotel) firstGuest(ch Channel) *segment {
	if n := h.floors[ch].head; n != none {
		return h.rooms[n].guest
	}
	return nil
}

// eldest is the guest of the hotel that checked in first, or nil.
func (h *hotel) eldest() *segment {
	a, b := h.firstGuest(Data), h.firstGuest(Priority)
	if a == nil || b != nil && b.sent < a.sent {
		return b
	}
	return a
}
