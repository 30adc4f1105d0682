package comm

import (
	"fmt"
	"sync"

	"github.com/golci/golci/am"
	"github.com/golci/golci/comm/internal/match"
	"github.com/golci/golci/comm/internal/opstate"
	"github.com/golci/golci/fult"
)

// directMin is the smallest message in bytes that is copied so.
const directMin = 4 << 10

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

// offer is what the envelope of a send says of its bytes. The zero offer: they must be asked for.
type offer struct {
	base, id uint64 // of their key
}

// willPut stands in place of a key's number: the sender puts the bytes where it is told.
const willPut = ^uint64(0)

// transfer is this rank's part of a message that is copied directly.
type transfer struct {
	am.Bulk
	o    *op
	tell uint64 // the peer's number for the message
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
		s.e.PostUrgent(peer, handlerCTS, tell, 0, 0)
	} else {
		s.e.PostUrgent(peer, handlerCopied, tell, failed)
	}
	o.afterStep(e, w)
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
