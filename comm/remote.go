package comm

import (
	"fmt"
	"sync"

	"github.com/golci/golci/am"
	"github.com/golci/golci/comm/internal/match"
	"github.com/golci/golci/comm/internal/opstate"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
)

// Where the conduit reaches the memory of the other rank (conduit.Remote), a large message is copied once, from
// buffer to buffer. The envelope says what the sender offers: a key of its bytes, or to put them. The receiver
// chooses:
//
//	whole   it gets all bytes, and tells the sender that nothing more is wanted (CTS)
//	halves  it gets the first half and lets the sender put the second (GO, with a key of its place)
//	put     it lets the sender put all bytes (GO)
//
// After GO each tells the other when its copy is done (COPIED). An operation is finished when both copies are.
//
// Where the ranks copy by themselves there is a fourth way, the chunks of a rendezvous without an offer. Which is
// quickest depends on the processor, the size, how far the cores are apart, and what goes the other way: see
// chooseScheme. Lines that cross between two cores take the time, and each core can only have so many on their way, so
// two cores move twice as many. Where both have a message to copy anyway, two halves only cost more system calls.
// Chunks cost a second copy, and no system call.

// directMin is the smallest message in bytes that travels so.
const directMin = 4 << 10

// offer is what the envelope of a send says of its bytes. The zero offer: they must be asked for.
type offer struct {
	base, id uint64 // of their key
}

// willPut stands in place of a key's number: the sender puts the bytes where it is told.
const willPut = ^uint64(0)

// keyFor of the bytes, of which there are n.
func (f offer) keyFor(n int64) conduit.Key { return conduit.Key{ID: f.id, Base: f.base, Size: n} }

// transfer is this rank's part of a message that is copied directly.
type transfer struct {
	am.Bulk
	o    *op
	tell uint64 // the peer's number for the message
}

// mayCopy tells whether the send o is one that may be copied directly, wherever its peer is.
func (s *Server) mayCopy(o *op) bool { return !o.endable && o.cursor == nil && o.size >= directMin }

// offerBytes tells what the envelope of the send o offers.
func (s *Server) offerBytes(o *op) offer {
	if !s.mayCopy(o) {
		return offer{}
	}
	switch r := s.e.Reach(int(o.peer)); {
	case r.Get:
		k, ok := s.e.Expose(int(o.peer), o.data)
		if ok {
			o.exposed = k
		}
		return offer{k.Base, k.ID}
	case r.Put:
		return offer{id: willPut}
	}
	return offer{}
}

// beginDirect starts to copy the message of which its sender offers that; false if this rank cannot, or it is not
// worth it.
func (s *Server) beginDirect(o *op, id uint64, from offer) bool {
	if from.id == 0 || o.cursor != nil || o.recv.want < directMin {
		return false
	}
	r := s.e.Reach(int(o.peer))
	switch {
	case from.id == willPut:
		return r.Put && !o.endable && s.goAhead(o, id, 0, from)
	case !r.Get:
		return false
	case r.Near:
		switch s.chooseScheme(o, r) {
		case Stream:
			return false
		case Halves:
			return s.goAhead(o, id, o.recv.want/2&^(pageBytes-1), from)
		}
	}
	o.stepState(match.AskGet)
	s.getBytes(o, o.recv.want, id, from)
	return true
}

// goAhead lets the sender put the bytes of o from half on, and gets those before; false if the sender cannot reach
// them now.
func (s *Server) goAhead(o *op, id uint64, half int64, from offer) bool {
	src := int(o.peer)
	k, ok := s.e.Expose(src, o.data[half:o.recv.want])
	if !ok {
		return false
	}
	o.exposed = k
	if half > 0 {
		o.stepState(match.AskHalf)
	} else {
		o.stepState(match.AskPut)
	}
	own := s.ids.Add(o)
	o.id = own
	s.sendControl(src, handlerGo, id, own, uint64(half), uint64(o.recv.want), k.Base, k.ID)
	if half > 0 {
		s.getBytes(o, half, id, from)
	}
	s.askedLate(own, src) // o may be finished by now
	return true
}

// getBytes fetches the first n bytes of o.
func (s *Server) getBytes(o *op, n int64, id uint64, from offer) {
	x := s.transfers.Get().(*transfer)
	*x = transfer{Bulk: am.Bulk{Data: o.data[:n], Key: from.keyFor(o.size), Get: true, Owner: x}, o: o, tell: id}
	s.e.PutBulk(int(o.peer), &x.Bulk)
}

// pageBytes is what halves are rounded to, so that the copies do not share lines or pages.
const pageBytes = 4096

// onGo starts the sender's part.
func (s *Server) onGo(t *am.Token, args []uint64, _ []byte) {
	if len(args) != 6 {
		s.reportFault(t, "go")
		return
	}
	in, from, to := match.HalfWanted, args[2], args[3]
	if from == 0 {
		in = match.AllWanted
	}
	fits := func(o *op) bool { return o.send.offered && from <= to && to <= uint64(len(o.data)) }
	o := s.answeredOp(t, args[0], in, "go", fits)
	if o == nil {
		return
	}
	s.hearChoice(o, Halves)
	o.stepState(in)
	x := s.transfers.Get().(*transfer)
	k := conduit.Key{ID: args[5], Base: args[4], Size: int64(to - from)}
	*x = transfer{Bulk: am.Bulk{Data: o.data[from:to], Key: k, Owner: x}, o: o, tell: args[1]}
	s.e.PutBulk(t.Source(), &x.Bulk)
}

// onCopied notes that the peer has done its part.
func (s *Server) onCopied(t *am.Token, args []uint64, _ []byte) {
	if len(args) != 2 {
		s.reportFault(t, "copied")
		return
	}
	o := s.answeredOp(t, args[0], match.Copied, "copied", fitsAny)
	if o == nil {
		return
	}
	if args[1] != 0 {
		s.keepError(o, o.failedWith(fmt.Errorf("%w: it could not reach the memory of rank %d", ErrPeer, s.rank)))
	}
	o.happenTo(match.Copied, t.Worker())
}

// Sent implements am.BulkOwner.
func (x *transfer) Sent(w *fult.Worker) {
	if x.o.s.closed.Load() {
		x.endTransfer(fmt.Errorf("%w: rank %d", ErrClosed, x.o.s.rank), w)
		return
	}
	x.endTransfer(nil, w)
}

// Fail implements am.BulkOwner.
func (x *transfer) Fail(err error, w *fult.Worker) {
	if x.o.s.closed.Load() {
		x.endTransfer(fmt.Errorf("%w: %w", ErrClosed, err), w)
		return
	}
	x.endTransfer(fmt.Errorf("%w: %w", ErrPeer, err), w)
}

// endTransfer ends this rank's part.
func (x *transfer) endTransfer(err error, w *fult.Worker) {
	o, s, tell, peer := x.o, x.o.s, x.tell, int(x.o.peer)
	x.o, x.Data = nil, nil
	s.transfers.Put(x)
	failed := uint64(0)
	if err != nil {
		failed = 1
		s.keepError(o, o.failedWith(err))
	}
	do, e := o.stepState(match.Moved)
	if do == match.TellNothing {
		s.sendControl(peer, handlerCTS, tell, 0, 0)
	} else {
		s.sendControl(peer, handlerCopied, tell, failed)
	}
	o.afterStep(e, w)
}

// unexposeBytes takes the bytes of an operation that is over out of its peer's reach.
func (o *op) unexposeBytes() {
	if o.exposed.ID != 0 {
		o.s.e.Release(int(o.peer), o.exposed)
		o.exposed = conduit.Key{}
	}
}

// strays are the buffers of receives that have ended with their server while a peer had still to write its half. Nobody
// tells when the peer is done, so they stay to the end of the process: the collector would give their memory to others,
// which the peer would overwrite.
var strays struct {
	mu   sync.Mutex
	list [][]byte // guarded by mu
}

// keepStrays is called before all that is pending ends.
func (s *Server) keepStrays() {
	var mine [][]byte
	s.ids.Each(func(_ uint64, o *op) {
		if o.isFilled() && !s.e.Reach(int(o.peer)).Firm {
			mine = append(mine, o.data)
		}
	})
	if len(mine) > 0 {
		strays.mu.Lock()
		strays.list = append(strays.list, mine...)
		strays.mu.Unlock()
	}
}

// isFilled tells that the peer writes to the buffer of o.
func (o *op) isFilled() bool {
	st := o.word.State()
	return o.word.Hands()&opstate.Peer != 0 && (st == match.RecvCopying || st == match.RecvFilling)
}

// keepError keeps the first error of an operation that more than one may end.
func (s *Server) keepError(o *op, err error) {
	s.errMu.Lock()
	if o.err == nil {
		o.err = err
	}
	s.errMu.Unlock()
}
