package mpi

import "github.com/golci/golci/mpi/internal/core"

// Probe waits for a message that a Recv with these arguments would get, and tells its source, tag and length without
// receiving it (3.8.1). Another thread may still receive it first; see Mprobe. It may switch threads. Errors: ErrComm,
// ErrRank, ErrTag, ErrFinalized, ErrAborted.
func (c *Comm) Probe(source, tag int) (Status, error) { return status(c.core().Probe(source, tag)) }

// Iprobe polls once and looks for such a message; it does not block. The result is false if there is none. Errors as
// for Probe; in a view whose context has ended ErrCancelled and its cause, so that a loop of Iprobe ends with it.
func (c *Comm) Iprobe(source, tag int) (Status, bool, error) {
	st, ok, err := c.core().Iprobe(source, tag)
	return face(st), ok, err
}

// Message is a message that Mprobe has taken for its caller: only Mrecv and Imrecv can receive it, once (3.8.2).
type Message core.Message

// core is m as the layer below knows it. The two are one object.
func (m *Message) core() *core.Message { return (*core.Message)(m) }

// Status tells the message's source, tag and length; of a nil message AnySource, AnyTag and 0.
func (m *Message) Status() Status { return face(m.core().Status()) }

// Mprobe is Probe that also takes the message, so that no other thread can receive it (3.8.2). It waits, and may
// switch threads. Errors as for Probe.
func (c *Comm) Mprobe(source, tag int) (*Message, error) {
	m, err := c.core().Mprobe("Mprobe", source, tag)
	return (*Message)(m), err
}

// Improbe polls once and takes such a message, if there is one; else it returns nil (3.8.2). It does not block.
// Errors as for Iprobe.
func (c *Comm) Improbe(source, tag int) (*Message, error) {
	m, err := c.core().Improbe("Improbe", source, tag)
	return (*Message)(m), err
}

// Imrecv starts to receive m into buf (3.8.3). It does not block. Errors: ErrType, ErrRequest for a message that is
// nil or has been received, ErrFinalized, ErrAborted.
func Imrecv[T any](m *Message, buf []T) (Request, error) {
	r, err := m.core().Imrecv("Imrecv", elemOf[T](), bytesOf(buf), nil)
	return Request(r), err
}

// Mrecv receives m into buf (3.8.3). It waits for the bytes of a long message, and may switch threads. Errors as for
// Imrecv, and ErrTruncate.
func Mrecv[T any](m *Message, buf []T) (Status, error) {
	return status(m.core().Mrecv("Mrecv", elemOf[T](), bytesOf(buf), nil))
}
