package event

import (
	"encoding/binary"
	"fmt"
)

// Refused is a set of reservations: those that have not been acquired because of a poison, the latest first. nil is the
// empty set. A set does not change, and shares its rest with the set that it was made of.
type Refused struct {
	id   ID
	n    int // with id
	rest *Refused
}

// Len is how many there are.
func (r *Refused) Len() int {
	if r == nil {
		return 0
	}
	return r.n
}

// Has tells whether id is one of them.
func (r *Refused) Has(id ID) bool {
	for ; r != nil; r = r.rest {
		if r.id == id {
			return true
		}
	}
	return false
}

// With is r with id.
func (r *Refused) With(id ID) *Refused {
	if r.Has(id) {
		return r
	}
	return r.pushID(id)
}

func (r *Refused) pushID(id ID) *Refused { return &Refused{id, r.Len() + 1, r} }

// Join is r with all of s.
func (r *Refused) Join(s *Refused) *Refused {
	if r == nil {
		return s
	}
	s.Each(func(id ID) { r = r.With(id) })
	return r
}

// Each calls f for all, the latest first.
func (r *Refused) Each(f func(id ID)) {
	for ; r != nil; r = r.rest {
		f(r.id)
	}
}

func (r *Refused) equal(s *Refused) bool {
	for r != s {
		if r.Len() != s.Len() || r.id != s.id {
			return false
		}
		r, s = r.rest, s.rest
	}
	return true
}

// refusedBytes is the size of the count before the IDs.
const refusedBytes = 4

func (r *Refused) appendTo(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(r.Len()))
	r.Each(func(id ID) { b = binary.LittleEndian.AppendUint64(b, uint64(id)) })
	return b
}

// parseRefused decodes what appendTo has made, and returns the rest of b.
func parseRefused(b []byte) (r *Refused, rest []byte, err error) {
	if len(b) < refusedBytes {
		return nil, nil, fmt.Errorf("%d bytes for the reservations of a poison", len(b))
	}
	n, b := int(binary.LittleEndian.Uint32(b)), b[refusedBytes:]
	if n > len(b)/8 {
		return nil, nil, fmt.Errorf("%d reservations of a poison in %d bytes", n, len(b))
	}
	for i := n - 1; i >= 0; i-- {
		id := ID(binary.LittleEndian.Uint64(b[8*i:]))
		if id.Kind() != Reservation {
			return nil, nil, fmt.Errorf("a poison has kept %v from being acquired", id)
		}
		r = r.pushID(id)
	}
	return r, b[8*n:], nil
}
