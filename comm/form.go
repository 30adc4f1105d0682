package comm

// Form is the kind of call by which the program has started an operation. Reports show it.
type Form uint8

// The forms that this package knows.
const (
	// Blocking is the form of a call that waits for the operation itself.
	Blocking Form = iota
	// Nonblocking is the form of a call that gives a request.
	Nonblocking
	// OtherForms and above are those of the layer above.
	OtherForms
)
