package match

// Turns counts the operations of one rank under a key: its sends to a peer, or its receives from there. The peer counts
// those that match them, and turn n there is turn n here. Each rank tells the peer of an operation with its turn, and an
// operation for which the peer has told already need not be told of.
//
// An operation that is called back takes its turn with it: the peer, if it has none for that turn, leaves it out
// (Void). The zero Turns has had none.
type Turns struct {
	next uint64
	void map[uint64]struct{} // turns to come that are left out
}

// Next is the turn of the next operation.
func (t *Turns) Next() uint64 {
	for len(t.void) > 0 {
		if _, is := t.void[t.next]; !is {
			break
		}
		delete(t.void, t.next)
		t.next++
	}
	return t.next
}

// Take gives the next operation its turn.
func (t *Turns) Take() uint64 {
	n := t.Next()
	t.next++
	return n
}

// Passed tells whether turn n has been given or left out.
func (t *Turns) Passed(n uint64) bool { return n < t.next }

// Void leaves turn n out, unless it has passed.
func (t *Turns) Void(n uint64) {
	if t.Passed(n) {
		return
	}
	if t.void == nil {
		t.void = make(map[uint64]struct{})
	}
	t.void[n] = struct{}{}
}
