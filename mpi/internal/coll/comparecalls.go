package coll

import (
	"bytes"
	"fmt"
	"unsafe"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/op"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// Where types are checked, all ranks tell each other what they call before each collective, and compare. So a call that
// differs is found in the call itself, on all ranks, with both names. Nothing of the call has been sent before.

// claim is what a rank says that it calls.
type claim struct {
	word, head, bytes, signature uint64
	name                         [32]byte // of the function
}

// claimExchange is how claims travel, and what the call has meanwhile set aside.
type claimExchange struct {
	steps schedule.Schedule
	own   [1]claim
	all   []claim
	work  []byte

	alg          algorithm.Algorithm
	tag, lastTag int
	once         bool
	signature    uint64
	call         *schedule.Schedule
	buf          [schedule.Bufs]buffer
} // of one Call, for all its calls

// compares tells that the ranks compare what they call.
func (x *Call) compares() bool { return x.st.Checked && x.size > 1 && !x.st.betweenGroups() }

// compareAll makes all ranks compare what they have called. It waits.
func (x *Call) compareAll() error {
	e := x.beginCompare()
	err := x.perform()
	x.endCompare(e)
	if err == nil {
		err = x.judgeClaims(e)
	}
	return err
}

// beginCompare sets the call aside for an exchange, whose schedule is built.
func (x *Call) beginCompare() *claimExchange {
	e := x.exchange
	if e == nil {
		e = &claimExchange{all: make([]claim, x.size)}
		e.steps.AllgatherSteps(x.schedulePlace(), int(unsafe.Sizeof(e.own)), false)
		x.exchange = e
	}
	e.alg, e.tag, e.lastTag, e.once, e.signature = x.alg, x.tag, x.lastTag, x.once, x.options.Signature
	e.call, e.buf = x.steps, x.buf
	own := &e.own[0]
	*own = claim{word: x.word, head: x.head, bytes: uint64(x.bytes), signature: x.signature}
	if x.st.poison.Load() != nil {
		own.head = 0 // only where a rank goes on after a failure, which others may not have been told of
	}
	copy(own.name[:], x.kind)
	in, out := bytesIn(e.own[:]), bytesIn(e.all)
	x.buf = [schedule.Bufs]buffer{schedule.In: in, schedule.Out: out}
	x.alg, x.once, x.options.Signature = algorithm.Compare, true, 0
	x.tag = algorithm.MakeTag(x.size, algorithm.Compare, 0, x.call)
	x.lastTag = x.tag
	if x.async != nil { // perform has them else
		if len(e.work) < e.steps.Work {
			e.work = make([]byte, e.steps.Work)
		}
		x.buf[schedule.Work].mem = e.work
		if n := e.steps.Split + e.call.Split; cap(x.pairs) < n {
			x.pairs = make([]pair, 0, n)
		}
	}
	x.steps = &e.steps
	return e
}

func (x *Call) endCompare(e *claimExchange) {
	x.alg, x.tag, x.lastTag, x.once, x.options.Signature = e.alg, e.tag, e.lastTag, e.once, e.signature
	x.steps, x.buf = e.call, e.buf
	e.buf = [schedule.Bufs]buffer{} // which are the program's
}

// judgeClaims compares the claims of all ranks with the own one.
func (x *Call) judgeClaims(e *claimExchange) error {
	own := &e.own[0]
	for r := range e.all {
		if r != x.rank {
			if err := x.judgeClaim(r, own, &e.all[r]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *Call) judgeClaim(r int, own, c *claim) error {
	switch {
	case own.word != c.word:
		return x.callErrorf(sentinel.ErrMismatch, "this is %s; rank %d has called %s", x.text(own), r, x.text(c))
	case own.head != c.head && own.head != 0 && c.head != 0:
		return x.callErrorf(sentinel.ErrMismatch, "a call before this one was another on rank %d", r)
	case own.bytes > c.bytes:
		return x.callErrorf(sentinel.ErrCount, "this rank has %d bytes, rank %d has %d", own.bytes, r, c.bytes)
	case own.bytes < c.bytes:
		return x.callErrorf(sentinel.ErrTruncate, "this rank has %d bytes, rank %d has %d", own.bytes, r, c.bytes)
	case own.bytes > 0 && own.signature != 0 && c.signature != 0 && own.signature != c.signature:
		return x.view.comm.OpError(x.kind, &comm.SignatureError{Sent: c.signature, Received: own.signature})
	}
	return nil
}

// text describes what a rank calls.
func (x *Call) text(c *claim) string {
	name, _, _ := bytes.Cut(c.name[:], []byte{0})
	kind := algorithm.Algorithm(c.word & (1<<algorithm.WordLater - 1) % uint64(algorithm.Count))
	text := fmt.Sprintf("%s, call %d", name, x.call)
	if kind.Rooted() {
		text += fmt.Sprintf(", root %d", c.word>>algorithm.WordRoot)
	}
	switch id := c.word >> algorithm.WordOp & algorithm.ProgramOp; id {
	case 0:
	case algorithm.ProgramOp:
		text += ", an operation of the program"
	default:
		text += fmt.Sprintf(", %v", op.ID(id))
	}
	return text
}
