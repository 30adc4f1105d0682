package core

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/signature"
)

// A buffered send (3.6) copies its message into memory that the program has attached, and sends from there. The memory
// is free again when the message has left. Communicators, sessions and the rank have a buffer each. The first one that
// there is of these serves.

// Buffer is where buffered sends keep their messages.
type Buffer struct {
	srv *comm.Server
	mem []byte // nil: automatic, memory is allocated for each message

	mu sync.Mutex // guards what follows; no lock is taken under it
	// Messages that have not left, in the order of their places.
	parts []*bufferedMessage
}

// bufferedMessage is a message in a buffer.
type bufferedMessage struct {
	b       *Buffer
	from    int
	mem     []byte
	flushes []*flush // under b.mu
}

// flush waits for the messages that are in a buffer at one time.
type flush struct {
	call comm.Req
	left int // messages; under mu of the buffer
}

// buffering has the buffer of a communicator or a rank.
type buffering struct{ at atomic.Pointer[Buffer] }

// attachBuffer sets the buffer; nil mem is for automatic buffering.
func (x *buffering) attachBuffer(srv *comm.Server, mem []byte) error {
	if !x.at.CompareAndSwap(nil, &Buffer{srv: srv, mem: mem}) {
		return fmt.Errorf("%w: a buffer is attached already", sentinel.ErrBuffer)
	}
	return nil
}

// AttachBuffer attaches memory for buffered sends on c; nil: memory is allocated for each message.
func (c *Comm) AttachBuffer(what string, mem []byte) error {
	if err := c.checkUsable(what); err != nil {
		return err
	}
	if err := c.origin().buffer.attachBuffer(c.Srv, mem); err != nil {
		return c.commErrorf(what, ": %w", err)
	}
	return nil
}

// AttachBuffer attaches memory for buffered sends of the rank on communicators that have no other buffer.
func (p *Proc) AttachBuffer(what string, mem []byte) error {
	if err := p.buffer.attachBuffer(p.srv, mem); err != nil {
		return p.self.commErrorf(what, ": %w", err)
	}
	return nil
}

// DetachBuffer waits until no message is in the buffer of c, and gives it back; nil if there is none.
func (c *Comm) DetachBuffer(what string) (*Buffer, error) {
	if err := c.checkUsable(what); err != nil {
		return nil, err
	}
	return c.origin().buffer.detach(c, what)
}

// DetachBuffer is that of the rank.
func (p *Proc) DetachBuffer(what string) (*Buffer, error) { return p.buffer.detach(p.self, what) }

func (x *buffering) detach(c *Comm, what string) (*Buffer, error) {
	r := x.flushSends(c, what)
	if _, err := r.Wait(what); err != nil {
		return nil, err
	}
	return x.at.Swap(nil), nil
}

// Mem is the memory of the buffer; nil if it is automatic, or there is none.
func (b *Buffer) Mem() []byte {
	if b == nil {
		return nil
	}
	return b.mem
}

// FlushBuffer gives a request that is done when the messages that are in the buffer of c have left.
func (c *Comm) FlushBuffer(what string) (Request, error) {
	if err := c.checkUsable(what); err != nil {
		return Request{}, err
	}
	return c.origin().buffer.flushSends(c, what), nil
}

// FlushBuffer is that of the rank.
func (p *Proc) FlushBuffer(what string) (Request, error) {
	return p.buffer.flushSends(p.self, what), nil
}

func (x *buffering) flushSends(c *Comm, what string) Request {
	c.Srv.PollInTurn() // not under mu, which messages that leave take
	b := x.at.Load()
	if b == nil {
		return Request{c: c}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.parts) == 0 {
		return Request{c: c}
	}
	f := &flush{call: c.scope(what).beginWait(c.Srv, pending.AnyRank, pending.Nobody), left: len(b.parts)}
	for _, k := range b.parts {
		k.flushes = append(k.flushes, f)
	}
	return Request{c: c, req: f.call}
}

// reserveGap gives room for n bytes: the first gap that is long enough.
func (b *Buffer) reserveGap(n int) (*bufferedMessage, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mem == nil {
		k := &bufferedMessage{b: b, mem: make([]byte, n)}
		b.parts = append(b.parts, k)
		return k, nil
	}
	from := 0
	for i := 0; ; i++ {
		end := len(b.mem)
		if i < len(b.parts) {
			end = b.parts[i].from
		}
		if end-from >= n {
			k := &bufferedMessage{b: b, from: from, mem: b.mem[from : from+n : from+n]}
			b.parts = slices.Insert(b.parts, i, k)
			return k, nil
		}
		if i == len(b.parts) {
			return nil, fmt.Errorf("%w: no room for %d bytes in an attached buffer of %d", sentinel.ErrBuffer, n, len(b.mem))
		}
		from = b.parts[i].from + len(b.parts[i].mem)
	}
}

// left is called when the message has left.
func (k *bufferedMessage) left(w *fult.Worker) {
	b := k.b
	var over []*flush
	b.mu.Lock()
	if i := slices.Index(b.parts, k); i >= 0 {
		b.parts = slices.Delete(b.parts, i, i+1)
	}
	for _, f := range k.flushes {
		if f.left--; f.left == 0 {
			over = append(over, f)
		}
	}
	b.mu.Unlock()
	for _, f := range over {
		b.srv.EndCall(f.call, b.srv.Closed(), w) // the end of the rank ends messages, too
	}
}

// attached is the buffer for sends on c; nil: there is none.
func (c *Comm) attached() *Buffer {
	c = c.origin()
	b := c.buffer.at.Load()
	if b == nil && c.session != nil {
		b = c.session.buffer.at.Load()
	}
	if b == nil {
		b = c.proc.buffer.at.Load()
	}
	return b
}

// bsend copies d and sends the copy. It does not wait.
func (c *Comm) bsend(dest, tag int, d *data) error {
	b := c.attached()
	if b == nil {
		return fmt.Errorf("%w: no buffer is attached", sentinel.ErrBuffer)
	}
	k, err := b.reserveGap(d.len())
	if err != nil {
		return err
	}
	if d.cur != nil {
		d.cur.Pack(k.mem, 0)
	} else {
		copy(k.mem, d.b)
	}
	opt := comm.Options{Form: formBuffered, Signature: signature.OfBytes(k.mem, d.signature), Done: k.left}
	r, err := c.Srv.Isend(c.Ctx, int(c.group[dest]), tag, k.mem, &opt)
	if err != nil || r.Null() {
		k.left(nil)
	}
	return err
}

// BsendAny sends in buffered mode, for the function what: the message goes from a copy. It does not wait. With an error
// of class BUFFER there is no room.
func (c *Comm) BsendAny(what string, e *signature.Elem, b []byte, dest, tag int) error {
	if err := c.Bad(what, Sending, e.Err(), dest, tag); err != nil {
		return err
	}
	return c.bsendData(what, data{b: b, signature: c.signature(e)}, dest, tag)
}

// BsendBuf is BsendAny of a buffer.
func (c *Comm) BsendBuf(what string, b Buf, dest, tag int) error {
	d, err := c.sent(what, &b, dest, tag)
	if err != nil {
		return err
	}
	return c.bsendData(what, d, dest, tag)
}

func (c *Comm) bsendData(what string, d data, dest, tag int) error {
	if dest == ProcNull {
		c.Srv.PollInTurn()
		return nil
	}
	if err := c.bsend(dest, tag, &d); err != nil {
		return c.SendError(what, dest, tag, d.len(), err)
	}
	return nil
}

// BsendInit makes a persistent request for a buffered send, for the function what. Start tells what is wrong.
func (c *Comm) BsendInit(what string, e *signature.Elem, b []byte, dest, tag int) (Request, error) {
	if err := c.Bad(what, Sending, e.Err(), dest, tag); err != nil {
		return Request{}, err
	}
	return c.bsendInit(data{b: b, signature: c.signature(e)}, dest, tag), nil
}

// BsendInitBuf is BsendInit of a buffer.
func (c *Comm) BsendInitBuf(what string, b Buf, dest, tag int) (Request, error) {
	d, err := c.sent(what, &b, dest, tag)
	if err != nil {
		return Request{}, err
	}
	return c.bsendInit(d, dest, tag), nil
}

func (c *Comm) bsendInit(d data, dest, tag int) Request {
	return c.kept(persistentState{peer: dest, tag: tag, data: d, start: func(c *Comm) (comm.Req, error) {
		if dest == ProcNull {
			return comm.Req{}, nil
		}
		return comm.Req{}, c.bsend(dest, tag, &d)
	}})
}
