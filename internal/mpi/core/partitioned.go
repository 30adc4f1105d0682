package core

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/mpi/pure/dtype"
	"github.com/golci/golci/internal/mpi/pure/reqkind"
)

// Partitioned communication (4). A send and a receive of one tag meet in the order in which they were made. The sender
// announces its own in a notice: a channel between the two ranks, and the number and the bytes of its partitions. So
// nothing is sent back, and both calls are local. The data travel in a context that belongs to no communicator. Each
// message has the channel and its own number in its tag. It carries one partition of the sender, or several in turn
// where there are more of them than numbers.

// Tags of messages: a channel above the number of the message.
const (
	partMessages = 1 << 12
	partChannels = 1 << 16
)

const _ = uint(comm.MaxTag - (partChannels*partMessages - 1)) // they fit

// partCtx is the context of partitions.
var _, partCtx = contextsOf(systemID)

// parted is what both sides of partitioned communication have. It is used again by each start.
type parted struct {
	c     *Comm
	peer  int // in the communicator
	tag   int // of the program
	mem   []byte
	cur   *dtype.Cursor // of data with holes; nil: mem has them
	total int           // bytes
	parts int           // of this side
	shape uint64

	call comm.Req     // the request of the start
	left atomic.Int32 // events to come before the end of call
	reqs []comm.Req   // by message; who starts a message sets it
	errs []error      // why a message could not start; as reqs
}

// event counts that a message has ended, or that its start has returned.
func (p *parted) event(w *fult.Worker) {
	if p.left.Add(-1) == 0 {
		p.c.Srv.EndCall(p.call, nil, w)
	}
}

// begin makes the request of a start with so many messages. The start itself is one event.
func (p *parted) begin(messages int) {
	p.call = p.c.Srv.NewCall()
	p.expect(messages)
	p.left.Store(int32(messages) + 1)
}

// expect makes room for so many messages.
func (p *parted) expect(messages int) {
	if len(p.reqs) < messages {
		p.reqs, p.errs = make([]comm.Req, messages), make([]error, messages)
	}
}

// started takes what the start of message i has returned. Its end is one event; its start has been counted as another.
func (p *parted) started(i int, r comm.Req, err error) {
	p.reqs[i], p.errs[i] = r, err
	if err != nil || r.Null() {
		p.event(nil)
	}
	p.event(nil)
}

// collect uses up the messages, or only looks at them, and gives the first error.
func (p *parted) collect(last bool) (first error) {
	for i, r := range p.reqs {
		err := p.errs[i]
		switch {
		case err != nil || r.Null():
		case last:
			_, err = p.c.Srv.Wait(r)
		default:
			_, err = p.c.Srv.Peek(r)
		}
		if last {
			p.reqs[i], p.errs[i] = comm.Req{}, nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func (p *parted) cancel(*Comm) error { return nil } // the table of kinds forbids it

// batch is how the partitions of a sender are put into messages.
type batch struct{ parts, bytes, each int } // partitions, bytes of all of them, partitions of one message

func newBatch(parts, bytes int) batch {
	return batch{parts, bytes, max(1, (parts+partMessages-1)/partMessages)}
}

// messages is the number of messages.
func (b batch) messages() int { return (b.parts + b.each - 1) / b.each }

// span is the place of the bytes of message i.
func (b batch) span(i int) (from, to int) {
	one := b.bytes / max(b.parts, 1)
	return i * b.each * one, min((i+1)*b.each, b.parts) * one
}

// size is the number of partitions in message i.
func (b batch) size(i int) int { return min((i+1)*b.each, b.parts) - i*b.each }

// partTag is the tag of message i in a channel.
func partTag(channel, i int) int { return channel*partMessages + i }

// partedSend is a partitioned send.
type partedSend struct {
	parted
	batch   batch
	channel int            // none for the null process
	ready   []atomic.Bool  // by partition
	lacks   []atomic.Int32 // by message: partitions that are not ready
	packing sync.Mutex     // guards cur; no lock is taken under it
}

// PsendInit makes a partitioned send of b in so many partitions, for the function what.
func (c *Comm) PsendInit(what string, e *Elem, b []byte, parts, dest, tag int) (Request, error) {
	if err := c.Bad(what, Sending, e.err, dest, tag); err != nil {
		return Request{}, err
	}
	return c.psendInit(what, data{b: b, shape: c.shape(e)}, parts, dest, tag)
}

// PsendInitBuf is PsendInit of a buffer, which has all partitions.
func (c *Comm) PsendInitBuf(what string, b Buf, parts, dest, tag int) (Request, error) {
	d, err := c.sent(what, &b, dest, tag)
	if err != nil {
		return Request{}, err
	}
	return c.psendInit(what, d, parts, dest, tag)
}

func (c *Comm) psendInit(what string, d data, parts, dest, tag int) (Request, error) {
	p := &partedSend{parted: c.newParted(d, parts, dest, tag)}
	if err := p.check(what); err != nil {
		return Request{}, err
	}
	p.ready = make([]atomic.Bool, parts)
	p.batch = newBatch(parts, p.total)
	p.lacks = make([]atomic.Int32, p.batch.messages())
	if dest != ProcNull {
		channel, err := c.proc.parts.announce(c, int(c.group[dest]), tag, p.batch)
		if err != nil {
			return Request{}, c.errorf(what, ": %w", err)
		}
		p.channel = channel
	}
	return c.keptParts(p, p.start), nil
}

func (c *Comm) newParted(d data, parts, peer, tag int) parted {
	return parted{c: c, peer: peer, tag: tag, mem: d.b, cur: d.cur, total: d.len(), parts: parts, shape: d.shape}
}

// check tells whether the bytes can be divided.
func (p *parted) check(what string) error {
	if p.parts < 0 || p.parts > 0 && p.total%p.parts != 0 || p.parts == 0 && p.total > 0 {
		return p.c.errorf(what, ": %w: %d bytes in %d partitions", ErrArgument, p.total, p.parts)
	}
	return nil
}

// keptParts is the persistent request of a partitioned operation.
func (c *Comm) keptParts(e ends, start func(*Comm) (comm.Req, error)) Request {
	return Request{c: c, x: &more{keeps: &keeps{state: reqkind.Inactive, start: start}, ends: e}}
}

func (p *partedSend) start(c *Comm) (comm.Req, error) {
	if err := c.over(); err != nil {
		return comm.Req{}, err
	}
	p.begin(p.batch.messages())
	for i := range p.ready {
		p.ready[i].Store(false)
	}
	for i := range p.lacks {
		p.lacks[i].Store(int32(p.batch.size(i)))
	}
	p.event(nil)
	return p.call, nil
}

func (p *partedSend) kind() reqkind.Kind { return reqkind.PartitionedOut }

func (p *partedSend) outcome(_ *Comm, last bool) (Status, error) { return empty, p.collect(last) }

func (p *partedSend) forget(*Comm) error {
	if p.peer != ProcNull {
		p.c.proc.parts.release(int(p.c.group[p.peer]), p.channel)
	}
	return nil
}

// markReady sends the message of a partition when all partitions of the message are ready.
func (p *partedSend) markReady(part int) error {
	if p.ready[part].Swap(true) {
		return fmt.Errorf("%w: partition %d is ready already", ErrArgument, part)
	}
	if i := part / p.batch.each; p.lacks[i].Add(-1) != 0 {
		return nil
	} else if p.peer != ProcNull {
		p.send(i)
	} else {
		p.event(nil)
	}
	return nil
}

func (p *partedSend) send(i int) {
	from, to := p.batch.span(i)
	var b []byte
	if p.cur == nil {
		b = p.mem[from:to]
	} else {
		b = make([]byte, to-from)
		p.packing.Lock()
		p.cur.Pack(b, from)
		p.packing.Unlock()
	}
	p.left.Add(1)
	t := comm.Terms{Shape: (&data{b: b, shape: p.shape}).sendShape(), Done: p.event}
	r, err := p.c.Srv.IsendWith(partCtx, int(p.c.group[p.peer]), partTag(p.channel, i), b, comm.Standard, t)
	p.started(i, r, err)
}

// Pready tells that the partitions from first to last of a partitioned send may be sent, for the function what. Several
// threads may call it at once.
func (r *Request) Pready(what string, first, last int) error {
	if err := r.may(what, reqkind.Pready); err != nil {
		return err
	}
	p, ok := r.ends().(*partedSend)
	switch {
	case !ok:
		return r.c.errorf(what, ": %w: it is no partitioned send", ErrRequest)
	case first < 0 || last >= p.parts || first > last:
		return r.c.errorf(what, ": %w: partitions %d to %d of %d", ErrArgument, first, last, p.parts)
	}
	for i := first; i <= last; i++ {
		if err := p.markReady(i); err != nil {
			return r.c.errorf(what, ": %w", err)
		}
	}
	return nil
}
