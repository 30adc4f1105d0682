package event

// Poison is why an operation did not happen: its own failure, or that of what it was to wait for. It does not change.
type Poison struct {
	Rank int32  // where it began
	Text string // its cause
	Err  error  // the cause itself, on that rank; nil elsewhere
}

// Waiter is what waits for one event: a part of the operation that the event lets begin. It is in one list at most.
type Waiter struct {
	Next   *Waiter
	Poison *Poison // of the event, once it has triggered; nil if there is none
	Op     Op      // what to do then; it does not change while the waiter is in a list
}

// Op is an operation that waits.
type Op interface {
	// Fire is called once the event of w has triggered, which has set w.Poison. by is whoever runs the waiters.
	Fire(w *Waiter, by any)
}
