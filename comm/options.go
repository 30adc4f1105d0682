package comm

import (
	"github.com/golci/golci/fult"
)

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

// Options says more about a send or a receive. A nil *Options is that of most: bytes in one piece, in standard mode,
// whose elements are not checked. The server keeps no pointer to it.
type Options struct {
	// Form is that of the call, which a report shows.
	Form Form
	// Mode of a send.
	Mode Mode
	// Endable lets End end the operation at once, whatever the peer does.
	Endable bool
	// Alone means that only the receiver writes the buffer: for one that is read at once and used again. Both ranks may
	// write to it otherwise, and each then waits for lines of the other's cache. A Target is always alone.
	Alone bool
	// Signature stands for the type of the elements. A message and a receive that both have one, and not the same, end
	// with ErrType at the receiver. 0: none. A send of bytes that has one ends with ErrBuffer if they have changed.
	Signature uint64
	// Source packs the bytes to send; the data of the call are nil then.
	Source Source
	// Target takes the bytes that come; the buffer of the call is nil then.
	Target Target
	// Alloc, if not nil, gives the buffer of a receive. It is called with the size of the message in bytes when that is
	// matched, on any thread, inside the poll, and must not block. A size that CheckAlloc refuses does not reach it, and
	// gives ErrMemory. Below that the size is what the sender says: a tighter bound is for Alloc, and a buffer that is
	// shorter gives ErrTruncate.
	Alloc func(n int) []byte
	// Done, if not nil, is called once when an operation ends for which a request was given, maybe before that. It
	// may run inside a poll: it must not block. Send and Recv, which give none, do not call it.
	Done func(w *fult.Worker)
}

// startOp calls start, which begins o, for a request.
func (s *Server) startOp(o *op, opt *Options, start func(*op)) Req {
	if o.form = Nonblocking; opt != nil {
		o.form = opt.Form
		if opt.Done != nil {
			o.done.Call(opt.Done)
		}
	}
	r := Req{o, o.gen}
	start(o)
	return r
}
