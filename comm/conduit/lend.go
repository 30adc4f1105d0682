package conduit

// Lender is a conduit that can send bulk data from where it lies, without copying it first. It is optional, and may
// lead to some peers only.
type Lender interface {
	// LendsTo reports whether BulkLend leads to peer; it is not to be called for others.
	LendsTo(peer int) bool
	// BulkLend is BulkSend, but the bytes that it takes, the number of which it returns, must not be changed until
	// loan has Returned them all, in one call or in several; that may happen before BulkLend returns.
	BulkLend(peer int, id uint64, off int64, data []byte, loan Loan) int
}

// Loan is the owner of bytes that a Lender sends.
type Loan interface {
	// Returned gives n bytes back: they have arrived, or err tells why they need not. It runs on any goroutine,
	// within a call of the conduit or on a goroutine of the conduit's own, must be short and must call nothing of the
	// conduit but Wake.
	Returned(n int, err error)
}
