package comm

import (
	"errors"
	"fmt"

	"github.com/golci/golci/am"
	"github.com/golci/golci/comm/internal/match"
	"github.com/golci/golci/comm/internal/opstate"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/hashtable"
	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/internal/progress"
	"github.com/golci/golci/internal/request"
)

// node is an operation as the table holds it.
type node = hashtable.Node[op]

const (
	roleFree  role = iota
	roleRecv       // a receive that was posted
	roleSend       // a send that waits: for its turn, or as a rendezvous
	roleEager      // a message that came before its receive, with its bytes
	roleRTS        // the envelope of a rendezvous that came before its receive
	roleCall       // an operation of the layer above; see NewCall
)

// role says what an op stands for.
type role uint8

// op is one operation or one unexpected message, as the table, the numbers and the requests see it. What only one kind
// needs is in a part of its own, in the same piece of memory: one of recv, send and msg is not nil, and stays. Who may
// touch it changes: its caller until it is posted, then whoever finds it through the table, a list or an id, and after
// done is ready its caller again.
type op struct {
	done progress.Done
	word opstate.Word // state, and who has a hand in it; see match.Protocol
	gen  uint32       // counts the uses of this op, so that a stale Req is noticed

	traits

	ctx        uint16
	packetPool int16 // sub-pool of packets nearest to the receiver; -1 for none
	peer       int32 // source of a receive or message, destination of a send; a wildcard until matched
	tag        int32
	s          *Server
	data       []byte // receive buffer, bytes to send, or bytes of an unexpected message
	size       int64  // bytes of the message; of an envelope, bytes at the sender
	err        error
	recv       *receiving
	send       *sending
	msg        *arrival
	signature  uint64 // see Options; 0: not known
	id         uint64 // of this op in Server.ids, 0 if none; of an envelope the sender's id

	cursor  cursor      // the Source or Target of an operation whose bytes are not contiguous, in the place of data
	turn    uint64      // where first: see match.Turns
	exposed conduit.Key // under which the peer reaches bytes of this op; zero if none
}

// traits are what startUse sets together, in two stores.
type traits struct {
	role          role
	wild          bool // a receive with a wildcard
	needsFill     bool // a receive whose message needs more than a look at its length and a copy
	cancelled     bool
	paused        bool // a receive from any source that a doubt has ended; see RefuseAnySource
	endable       bool // the peer never has a key of its bytes, so that End can take them away at any time
	receiverFirst bool // its message may go without an envelope; see turns.go
	exact         bool // a receive whose message must be as long as its buffer
	alone         bool // a receive whose rank alone writes the buffer
	form          Form // which call has started it
}

// receiving is what only a receive needs.
type receiving struct {
	posted   match.Pattern      // of a receive with a wildcard: what it accepts
	alloc    func(n int) []byte // gives the buffer of a receive of unknown size
	want     int64              // bytes of a rendezvous that will come
	received int64              // those that have come
	timing   schemeTiming       // of a rendezvous
	call     *pending.Entry     // of roleCall: o in the registry; it stays for later uses
}

// sending is what only a send needs that does not leave at once: it waits for its turn, or as a rendezvous.
type sending struct {
	sync    bool         // a synchronous send
	offered bool         // it is counted in peer.offers; set when its envelope leaves
	unfit   bool         // it does not fit its RTR
	sum     uint64       // of the bytes of a send with a signature, when it was started
	turns   *sendTurns   // where first
	invited uint64       // the number of the receive that has invited it, until its bytes are handed over
	bulk    *am.Bulk     // while its bytes move
	timing  schemeTiming // of a message whose way is measured
	asks    bool         // it does not travel with its envelope, though it might
	next    am.Queued    // link of the pair's queue
}

// arrival is what only an unexpected message needs.
type arrival struct {
	stamp  uint64  // order of arrival
	from   offer   // of an envelope: what the sender offers of its bytes
	packet *packet // holds data that do not fit small
	small  [smallBytes]byte
}

// smallBytes of an unexpected message are kept in the op itself.
const smallBytes = 64

// startUse begins a new use of o.
func (o *op) startUse(r role, ctx uint16, peer, tag int32, data []byte) {
	o.beginUse(traits{role: r}, ctx, peer, tag, data)
}

// beginUse is start with all traits.
func (o *op) beginUse(t traits, ctx uint16, peer, tag int32, data []byte) {
	o.traits = t
	o.ctx, o.peer, o.tag, o.data = ctx, peer, tag, data
	o.size, o.err, o.signature, o.id = 0, nil, 0, 0
	o.done.Reset()
}

// stepState applies the event in to the state of o. It depends on nobody else. It tells what is to be done. The caller
// goes on with ended.
func (o *op) stepState(in opstate.Input) (do uint8, e opstate.End) {
	did, e, ok := o.word.Step(match.Protocol, in)
	if !ok {
		panic(fmt.Sprintf("comm: rank %d: %s for an operation that is %s", o.s.rank, match.Protocol.InputName(in), o.stateName()))
	}
	return did.Do, e
}

func (o *op) stateName() string { return match.Protocol.StateName(o.word.State()) }

// happenTo is stepState followed by afterStep, where nothing is to be done in between.
func (o *op) happenTo(in opstate.Input, w *fult.Worker) {
	_, e := o.stepState(in)
	o.afterStep(e, w)
}

// afterStep goes on after a step. It completes o when only the caller still holds it, and frees o when nobody does.
// Unless it was, nobody may touch o after the step.
func (o *op) afterStep(e opstate.End, w *fult.Worker) {
	switch e {
	case opstate.Completed:
		switch {
		case o.send != nil:
			if o.send.offered {
				o.s.peers[o.peer].offers.Add(-1)
			}
			o.noteScheme(&o.send.timing, o.size)
		case o.recv != nil:
			o.noteScheme(&o.recv.timing, o.recv.want)
		}
		o.unexposeBytes()
		o.done.Complete(w)
	case opstate.Freed: // its caller has left, so that it was endable: nothing of it is offered or exposed
		o.s.putOp(o)
	}
}

// unexposeBytes takes the bytes of an operation that is over out of its peer's reach.
func (o *op) unexposeBytes() {
	if o.exposed.ID != 0 {
		o.s.e.Release(int(o.peer), o.exposed)
		o.exposed = conduit.Key{}
	}
}

// failedWith is the error of o for that cause.
func (o *op) failedWith(err error) error {
	e := &OpError{
		Send: o.role == roleSend, Rank: o.s.rank, Peer: int(o.peer), Tag: int(o.tag), Bytes: o.bufferRoom(), Err: err,
	}
	if e.Send {
		e.Bytes = o.size
	}
	return e
}

// bufferRoom is how many bytes the buffer of o holds.
func (o *op) bufferRoom() int64 {
	if o.cursor != nil {
		return int64(o.cursor.Len())
	}
	return int64(len(o.data))
}

// keepError keeps the first error of an operation that more than one may end.
func (s *Server) keepError(o *op, err error) {
	s.errMu.Lock()
	if o.err == nil {
		o.err = err
	}
	s.errMu.Unlock()
}

// askedLate ends the rendezvous with number id if the peer that has been asked for its bytes is gone. As postLate it
// comes after the number can be found.
func (s *Server) askedLate(id uint64, peer int) {
	if s.e.Gone(peer) {
		s.failNumber(id, s.e.PeerError(peer), nil)
	}
}

// hookRemoved, set by tests, runs when failNumber has removed a number and has not ended its operation yet.
var hookRemoved func()

// failNumber ends a send or rendezvous that waits for an answer.
func (s *Server) failNumber(id uint64, err error, w *fult.Worker) {
	o := s.ids.Remove(id)
	if o == nil {
		return
	}
	if hookRemoved != nil {
		hookRemoved()
	}
	o.cancelled = errors.Is(err, ErrCancelled)
	s.keepError(o, o.failedWith(err))
	in := match.PeerLost
	if o.role == roleSend && s.e.Withdraw(int(o.peer), o) {
		in = match.Withdrawn
	}
	o.happenTo(in, w)
}

// statusOf of a finished receive.
func (o *op) statusOf() Status {
	return Status{Source: int(o.peer), Tag: int(o.tag), Bytes: min(o.size, o.bufferRoom()), Cancelled: o.cancelled}
}

// Status tells what a receive got.
type Status struct {
	Source    int // rank of the sender in the job
	Tag       int
	Bytes     int64 // bytes in the buffer
	Cancelled bool
}

// opPools hold the ops that are not in use, by kind.
type opPools struct{ receives, sends, messages request.Pool[op] }

func newReceive(s *Server) *op {
	o, part := newOp[receiving](s)
	o.recv = part
	return o
}

// newOp makes an op and its part, in one piece of memory.
func newOp[P any](s *Server) (*op, *P) {
	x := new(struct {
		node
		part P
	})
	o := &x.Value
	o.s, o.packetPool = s, -1
	return o, &x.part
}

// getSend gives an op for a send that nobody else knows.
func (s *Server) getSend() *op {
	if o := s.free.sends.Get(); o != nil {
		return o
	}
	o, part := newOp[sending](s)
	o.send = part
	return o
}

// getMessage gives an op for an unexpected message that nobody else knows.
func (s *Server) getMessage() *op {
	if o := s.free.messages.Get(); o != nil {
		return o
	}
	return newMessage(s)
}

func newMessage(s *Server) *op {
	o, part := newOp[arrival](s)
	o.msg = part
	return o
}

// putOp ends the use of o, which nobody else may know any more.
func (s *Server) putOp(o *op) {
	if o.role == roleRTS {
		s.envelopes.Add(-1)
	}
	o.err = nil
	o.retireOp()
	switch {
	case o.recv != nil:
		s.free.receives.Put(o)
	case o.send != nil:
		s.free.sends.Put(o)
	default:
		s.free.messages.Put(o)
	}
}

// retireOp makes o one that is not in use, and has no error. It lets go of the memory of the program.
func (o *op) retireOp() {
	o.role = roleFree
	o.gen++
	o.data, o.cursor = nil, nil
	if o.recv != nil {
		o.recv.alloc = nil
	}
	o.word.Free()
}
