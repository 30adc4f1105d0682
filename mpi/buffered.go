package mpi

// AttachBuffer attaches memory for buffered sends on c (3.6, MPI_Comm_attach_buffer). Nobody else may use it until it
// is detached. With nil, memory is allocated for each message (MPI_BUFFER_AUTOMATIC). Errors: ErrBuffer if a buffer is
// attached; ErrComm.
func (c *Comm) AttachBuffer(mem []byte) error { return c.core().AttachBuffer("AttachBuffer", mem) }

// AttachBuffer attaches memory for buffered sends on communicators that have no other buffer (3.6,
// MPI_Buffer_attach). See Comm.AttachBuffer.
func (p *Proc) AttachBuffer(mem []byte) error { return p.core().AttachBuffer("AttachBuffer", mem) }

// DetachBuffer waits until all messages in the buffer of c have left, and gives its memory back (3.6,
// MPI_Comm_detach_buffer); nil if there is none. It may switch threads. Errors: those of a wait, and ErrComm.
func (c *Comm) DetachBuffer() ([]byte, error) {
	b, err := c.core().DetachBuffer("DetachBuffer")
	return b.Mem(), err
}

// DetachBuffer is Comm.DetachBuffer of the rank's own buffer (3.6, MPI_Buffer_detach).
func (p *Proc) DetachBuffer() ([]byte, error) {
	b, err := p.core().DetachBuffer("DetachBuffer")
	return b.Mem(), err
}

// FlushBuffer gives a request that is done when the messages that are in the buffer of c have left (3.6,
// MPI_Comm_iflush_buffer). It does not block. Error: ErrComm.
func (c *Comm) FlushBuffer() (Request, error) {
	r, err := c.core().FlushBuffer("FlushBuffer")
	return Request(r), err
}

// FlushBuffer is Comm.FlushBuffer of the rank's own buffer (3.6, MPI_Buffer_iflush).
func (p *Proc) FlushBuffer() Request {
	r, _ := p.core().FlushBuffer("FlushBuffer") // it has no errors
	return Request(r)
}

// Bsend sends in buffered mode (3.4): buf is copied into the attached buffer, and may be used again at once. It does
// not block. Errors as for Send; ErrBuffer if there is no buffer, or no room in it.
func Bsend[T any](c *Comm, buf []T, dest, tag int) error {
	return c.core().BsendAny("Bsend", elemOf[T](), bytesOf(buf), dest, tag)
}

// BsendInit makes a persistent request for a buffered send (3.9); see SendInit. Start copies the message, and what it
// has started is done at once. Errors as for Send; ErrBuffer comes from Start.
func BsendInit[T any](c *Comm, buf []T, dest, tag int) (Request, error) {
	r, err := c.core().BsendInit("BsendInit", elemOf[T](), bytesOf(buf), dest, tag)
	return Request(r), err
}
