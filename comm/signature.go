package comm

import (
	"fmt"
	"hash/maphash"
)

// Where types are checked a record carries one argument more: the signature, a number that stands for the type of the
// elements. Elsewhere nothing of this is on the way of a message.

// SignatureError tells that a message has other elements than its receive. errors.Is finds ErrType.
type SignatureError struct {
	Sent, Received uint64 // signatures
}

// Error gives the signatures.
func (e *SignatureError) Error() string {
	return fmt.Sprintf("%v: the message has elements of signature %#x, the receive of %#x", ErrType, e.Sent, e.Received)
}

// Unwrap gives ErrType.
func (e *SignatureError) Unwrap() error { return ErrType }

// sums of bytes to be sent are compared within a process only.
var sumSeed = maphash.MakeSeed()

func sumOf(b []byte) uint64 { return maphash.Bytes(sumSeed, b) | 1 }

// sumFor is the sum of a send with a signature, 0 of another.
func sumFor(signature uint64, b []byte) uint64 {
	if signature == 0 {
		return 0
	}
	return sumOf(b)
}

// isSummed tells that the bytes of o are compared at its end with those that it was started with.
func (o *op) isSummed() bool { return o.send != nil && o.send.sum != 0 }

// changedError tells that the bytes of the send o are not those that it was started with.
func (s *Server) changedError(o *op) error {
	return o.failedWith(fmt.Errorf("%w: it was changed between the start of the send and its end", ErrBuffer))
}
