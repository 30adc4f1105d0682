package event

// Poison is why an operation did not happen: its own failure, or that of what it was to wait for. It does not change.
//
// Errors, Refused and Rest are its data. They are kept for as long as it is known that there was a poison. The rest tells
// people of it, and of older poisons it may be forgotten.
type Poison struct {
	Rank    int32    // where it began
	Errors  uint32   // the bits of the errors that it wraps, by numbers that all ranks know; Lost is one of them
	Text    string   // its cause
	Err     error    // the cause itself, on that rank; nil elsewhere
	Refused *Refused // reservations that it has kept from being acquired

	// Rest, if it is not 0, is an event that triggers once all has triggered that the operation was to wait for: it was
	// poisoned before. The poison of Rest has the reservations that were refused there.
	Rest ID
}

// Lost is the bit of Errors for an outcome that is not known any more. There may have been no poison, or any.
const Lost = 1 << 31

// Waiter is what waits for one event: a part of the operation that the event lets begin. It is in one list at most.
type Waiter struct {
	Next   *Waiter // nil in no list
	prev   *Waiter // in a list, of a waiter that came by enterList and is not the oldest
	Poison *Poison // of the event, once it has triggered; nil if there is none
	Op     Op      // what to do then; it does not change while the waiter is in a list
}

// Op is an operation that waits.
type Op interface {
	// Fire is called once the event of w has triggered, which has set w.Poison. by is whoever runs the waiters.
	Fire(w *Waiter, by any)
}
