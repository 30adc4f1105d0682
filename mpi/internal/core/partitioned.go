package core

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/mpi/internal/contextid"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/reqkind"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/signature"
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
var _, partCtx = contextid.ContextsOf(contextid.System)

// partitionedOp is what both sides of partitioned communication have. It is used again by each start.
type partitionedOp struct {
	what      string // the function that has made it
	c         *Comm
	peer      int // in the communicator
	tag       int // of the program
	mem       []byte
	cur       *dtype.Cursor // of data with holes; nil: mem has them
	total     int           // bytes
	parts     int           // of this side
	signature uint64

	call comm.Req     // the request of the start
	left atomic.Int32 // events to come before the end of call
	msgs []partMessage

	mu     sync.Mutex // guards what follows; no lock but that of the registry is taken under it
	starts uint64     // so far
	active bool       // the last one has not ended
	// Why a start has been ended from outside. It stays: messages of that start may still come, so there is no other.
	why error
}

// partMessage is one message of a start. Who moves step from idle owns the rest until it is begun.
type partMessage struct {
	step atomic.Uint32
	req  comm.Req
	err  error // why it could not start
}

const (
	msgIdle    = iota
	msgClaimed // its start is under way, or it will never start
	msgBegun   // req and err are set
)

// onEvent counts that a message has ended, or that its start has returned.
func (p *partitionedOp) onEvent(w *fult.Worker) {
	if p.left.Add(-1) != 0 {
		return
	}
	p.mu.Lock()
	p.active = false
	p.mu.Unlock()
	p.c.Srv.EndCall(p.call, nil, w)
}

// beginStart makes the request of a start. stop ends it from outside. The start itself is one event, and others have
// been counted. It is called with mu held; checkHopeless is to follow without it.
func (p *partitionedOp) beginStart(stop func(number uint64, err error, w *fult.Worker)) {
	p.left.Add(1)
	p.starts++
	p.active = true
	p.call = p.c.Srv.NewCall(p.pends(), pending.Terms{Stop: stop, Number: p.starts})
}

// checkHopeless ends a start that something has made hopeless before it was in the registry.
func (p *partitionedOp) checkHopeless() {
	op := p.pends()
	p.c.Srv.CheckCall(p.call, &op)
}

// pends describes a start.
func (p *partitionedOp) pends() pending.Op {
	op := pending.Op{Call: p.what, Context: p.c.Ctx, Peer: pending.AnyRank, Tag: p.tag, Bytes: int64(p.total)}
	if p.peer != ProcNull {
		op.Peer = int(p.c.group[p.peer])
	}
	return op
}

// expectMessages makes room for so many messages, none of which has begun.
func (p *partitionedOp) expectMessages(messages int) {
	if len(p.msgs) < messages {
		p.msgs = make([]partMessage, messages)
	}
	for i := range p.msgs {
		p.msgs[i].step.Store(msgIdle)
	}
}

// started takes what the start of message i has returned. Its end is one event; its start has been counted as another.
// Either this sees that the whole has been ended, or stop sees that the message has begun.
func (p *partitionedOp) started(i int, r comm.Req, err error) {
	m := &p.msgs[i]
	m.req, m.err = r, err
	m.step.Store(msgBegun)
	if p.endedWhy() != nil {
		p.c.Srv.Cancel(r)
	}
	if err != nil || r.Null() {
		p.onEvent(nil)
	}
	p.onEvent(nil)
}

// endedWhy tells why the start has been ended from outside, or nil.
func (p *partitionedOp) endedWhy() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why
}

// endStart notes why a start ends from outside; false if it has ended. It is called with mu held.
func (p *partitionedOp) endStart(number uint64, err error) bool {
	if !p.active || p.starts != number || p.why != nil {
		return false
	}
	p.why = err
	return true
}

// stopStart ends a start from outside: messages under way are asked to end, and those that have not begun never will.
// Each of these has that many events to come.
func (p *partitionedOp) stopStart(events int, w *fult.Worker) {
	for i := range p.msgs {
		m := &p.msgs[i]
		switch {
		case m.step.CompareAndSwap(msgIdle, msgClaimed):
			for range events {
				p.onEvent(w)
			}
		case m.step.Load() == msgBegun:
			p.c.Srv.Cancel(m.req)
		}
	}
}

// collectMessages uses up the messages, or only looks at them, and gives the first error.
func (p *partitionedOp) collectMessages(last bool) (first error) {
	first = p.endedWhy()
	for i := range p.msgs {
		m := &p.msgs[i]
		r, err := m.req, m.err
		switch {
		case err != nil || r.Null():
		case last:
			_, err = p.c.Srv.Wait(r)
		default:
			_, err = p.c.Srv.Peek(r)
		}
		if last {
			m.req, m.err = comm.Req{}, nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// mayStart tells why no start can follow.
func (p *partitionedOp) mayStart(c *Comm) error {
	if err := p.endedWhy(); err != nil {
		return fmt.Errorf("%w: an earlier start has been ended: %w", sentinel.ErrRequest, err)
	}
	return c.contextOver()
}

func (p *partitionedOp) cancelOp(*Comm) error { return nil } // the table of kinds forbids it

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

// partitionedSend is a partitioned send.
type partitionedSend struct {
	partitionedOp
	batch   batch
	channel int            // none for the null process
	ready   []atomic.Bool  // by partition
	unready []atomic.Int32 // by message: partitions that are not ready
	packing sync.Mutex     // guards cur; no lock is taken under it
}

// PsendInit makes a partitioned send of b in so many partitions, for the function what.
func (c *Comm) PsendInit(what string, e *signature.Elem, b []byte, parts, dest, tag int) (Request, error) {
	if err := c.Bad(what, Sending, e.Err(), dest, tag); err != nil {
		return Request{}, err
	}
	return c.psendInit(what, data{b: b, signature: c.signature(e)}, parts, dest, tag)
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
	p := &partitionedSend{partitionedOp: c.newParted(what, d, parts, dest, tag)}
	if err := p.divisible(); err != nil {
		return Request{}, err
	}
	p.ready = make([]atomic.Bool, parts)
	p.batch = newBatch(parts, p.total)
	p.unready = make([]atomic.Int32, p.batch.messages())
	if dest != ProcNull {
		channel, err := c.proc.parts.announce(c, int(c.group[dest]), tag, p.batch)
		if err != nil {
			return Request{}, c.commErrorf(what, ": %w", err)
		}
		p.channel = channel
	}
	return c.keptParts(p, p.startSend), nil
}

func (c *Comm) newParted(what string, d data, parts, peer, tag int) partitionedOp {
	return partitionedOp{
		what: what, c: c, peer: peer, tag: tag,
		mem: d.b, cur: d.cur, total: d.len(), parts: parts, signature: d.signature,
	}
}

// divisible tells why the bytes cannot be divided, or nil.
func (p *partitionedOp) divisible() error {
	if p.parts < 0 || p.parts > maxParts || p.parts > 0 && p.total%p.parts != 0 || p.parts == 0 && p.total > 0 {
		return p.c.commErrorf(p.what, ": %w: %d bytes in %d partitions", sentinel.ErrArgument, p.total, p.parts)
	}
	if err := comm.CheckAlloc(int64(p.parts) * partState); err != nil {
		return p.c.commErrorf(p.what, ", %d partitions: %w", p.parts, err)
	}
	return nil
}

// partState is about how many bytes a partition needs beside its data.
const partState = 8

// keptParts is the persistent request of a partitioned operation.
func (c *Comm) keptParts(e compositeOp, start func(*Comm) (comm.Req, error)) Request {
	keep := &persistentState{state: reqkind.Inactive, start: start}
	return Request{c: c, x: &requestExt{persistent: keep, composite: e}}
}

func (p *partitionedSend) startSend(c *Comm) (comm.Req, error) {
	if err := p.mayStart(c); err != nil {
		return comm.Req{}, err
	}
	for i := range p.ready {
		p.ready[i].Store(false)
	}
	for i := range p.unready {
		p.unready[i].Store(int32(p.batch.size(i)))
	}
	p.mu.Lock()
	p.expectMessages(p.batch.messages())
	p.left.Store(int32(p.batch.messages()))
	p.beginStart(p.stopped)
	call := p.call
	p.mu.Unlock()
	p.checkHopeless()
	p.onEvent(nil)
	return call, nil
}

// stopped ends the start from outside.
func (p *partitionedSend) stopped(number uint64, err error, w *fult.Worker) {
	p.mu.Lock()
	ended := p.endStart(number, err)
	p.mu.Unlock()
	if ended {
		p.stopStart(1, w)
	}
}

func (p *partitionedSend) opKind() reqkind.Kind { return reqkind.PartitionedOut }

func (p *partitionedSend) opOutcome(_ *Comm, last bool) (Status, error) {
	return empty, p.collectMessages(last)
}

func (p *partitionedSend) forgetOp(*Comm) error {
	if p.peer != ProcNull && p.endedWhy() == nil { // else a message of the channel may still be at the receiver
		p.c.proc.parts.releaseChannel(int(p.c.group[p.peer]), p.channel)
	}
	return nil
}

// markReady sends the message of a partition when all partitions of the message are ready.
func (p *partitionedSend) markReady(part int) error {
	if p.ready[part].Swap(true) {
		return fmt.Errorf("%w: partition %d is ready already", sentinel.ErrArgument, part)
	}
	i := part / p.batch.each
	if p.unready[i].Add(-1) != 0 || !p.msgs[i].step.CompareAndSwap(msgIdle, msgClaimed) {
		return nil // others are not ready; or the start has been ended
	}
	if p.peer != ProcNull {
		p.sendPart(i)
	} else {
		p.onEvent(nil)
	}
	return nil
}

func (p *partitionedSend) sendPart(i int) {
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
	opt := comm.Options{Signature: signature.OfBytes(b, p.signature), Done: p.onEvent}
	r, err := p.c.Srv.Isend(partCtx, int(p.c.group[p.peer]), partTag(p.channel, i), b, &opt)
	p.started(i, r, err)
}

// Pready tells that the partitions from first to last of a partitioned send may be sent, for the function what. Several
// threads may call it at once.
func (r *Request) Pready(what string, first, last int) error {
	if err := r.may(what, reqkind.Pready); err != nil {
		return err
	}
	p, ok := r.ends().(*partitionedSend)
	switch {
	case !ok:
		return r.c.commErrorf(what, ": %w: it is no partitioned send", sentinel.ErrRequest)
	case first < 0 || last >= p.parts || first > last:
		return r.c.commErrorf(what, ": %w: partitions %d to %d of %d", sentinel.ErrArgument, first, last, p.parts)
	}
	for i := first; i <= last; i++ {
		if err := p.markReady(i); err != nil {
			return r.c.commErrorf(what, ": %w", err)
		}
	}
	return nil
}
