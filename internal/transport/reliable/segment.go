package reliable

import "time"

const (
	leastBuffer = 1408     // bytes of the buffer of a segment of copied messages at first: what a packet of Ethernet takes
	keptBuffers = 16 << 20 // most bytes of longer ones that are kept for later
)

// segment is the body of one packet under one sequence number. It has whole messages, copied here, or one piece of a
// long message, which stays with its owner. It is free, in a queue to be sent, in the hotel, or among the resends.
type segment struct {
	next     *segment // in the free list, a queue or the resends
	seq      uint32
	order    uint32        // of its last transmission among those of that channel
	room     int32         // in the hotel, or none
	tries    uint32        // transmissions
	sent     time.Duration // the last
	channel  Channel       // of the last
	part     uint16        // of one that goes in parts: where room was short
	probe    bool          // resent because of a timer: the window does not hold it back
	timed    bool          // resent last because of a timer, so that nothing says yet that it was lost
	arrived  bool          // acknowledged while among the resends
	charge   int           // bytes counted as on their way
	buf      []byte        // encoded records of whole messages
	small    []byte        // where these are while they are few; nil before the first
	of       *outgoing     // or: the message that it is a piece of
	off, len int           // and which
}

// size is the length of the body in bytes.
func (s *segment) size() int {
	if s.of == nil {
		return len(s.buf)
	}
	return s.of.header() + s.len
}

// putBody writes the body.
func (s *segment) putBody(b []byte) {
	if s.of == nil {
		copy(b, s.buf)
		return
	}
	r := s.recordOf()
	r.putRecord(b)
}

// recordOf is the body of a piece.
func (s *segment) recordOf() record {
	m := s.of
	r := record{kind: m.kind, tag: m.tag, frag: m.frag, size: uint32(len(m.data)), place: m.place, data: m.data[s.off : s.off+s.len]}
	r.offset = uint64(s.off)
	if m.kind == kindPut {
		r.offset += m.offset
	}
	return r
}

// outgoing is a long message on its way.
type outgoing struct {
	next          *outgoing // in the free list or a queue
	data          []byte    // the owner's
	id            uint64
	place, offset uint64
	frag          uint32
	kind, tag     uint8
	cut           int // bytes that are in segments
	left          int // bytes that are not acknowledged
	ended         bool
}

func (m *outgoing) header() int {
	r := record{kind: m.kind}
	return r.header()
}

// list is a queue of segments.
type list struct {
	head, tail *segment
	n          int
}

// pushSegment adds a segment at the end. It must be in no other list, so that next is nil.
func (l *list) pushSegment(s *segment) {
	if l.tail == nil {
		l.head = s
	} else {
		l.tail.next = s
	}
	l.tail = s
	l.n++
}

func (l *list) pushFront(s *segment) {
	s.next = l.head
	l.head = s
	if l.tail == nil {
		l.tail = s
	}
	l.n++
}

func (l *list) popSegment() *segment {
	s := l.head
	l.head, s.next = s.next, nil
	if l.head == nil {
		l.tail = nil
	}
	l.n--
	return s
}

// removeSegment takes s, which is in the list, out of it.
func (l *list) removeSegment(s *segment) {
	var before *segment
	for at := l.head; at != s; at = at.next {
		before = at
	}
	if before == nil {
		l.popSegment()
		return
	}
	if before.next, s.next = s.next, nil; l.tail == s {
		l.tail = before
	}
	l.n--
}

// messages is a queue of long messages.
type messages struct {
	head, tail *outgoing
	n          int
}

func (l *messages) pushMessage(m *outgoing) {
	if l.tail == nil {
		l.head = m
	} else {
		l.tail.next = m
	}
	l.tail = m
	l.n++
}

func (l *messages) popMessage() *outgoing {
	m := l.head
	l.head, m.next = m.next, nil
	if l.head == nil {
		l.tail = nil
	}
	l.n--
	return m
}

// sendQueue has the messages that wait for one channel to a peer.
type sendQueue struct {
	whole  list // segments of whole messages; the last one takes more of them while it has room
	long   messages
	toLong bool // the next segment is to come from long, if both have some
}

func (l *sendQueue) isEmpty() bool { return l.whole.head == nil && l.long.head == nil }
