package comm

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/comm/am"
	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/spin"
)

// Where the conduit can copy between the memories of two ranks, a large message is copied once, by both ranks at the
// same time: the receiver fetches the first half, the sender puts the second. Between two cores the time goes into
// lines that cross, and each core can only have so many on their way, so two cores move twice as many.
//
// The envelope carries the address of the sender's bytes. The receiver answers (GO) with its own number, where the
// second half goes, and how long it is. Each tells the other when its copy is done (COPIED); an operation is finished
// when both copies are.
//
// Where two ranks exchange messages both have one to copy anyway, and two halves only cost more system calls. So a
// receiver that has offered bytes to the sender copies the sender's message alone, if it is not very long. It then
// answers (CTS) that nothing is wanted.

// directMin is the smallest message in bytes that travels so.
const directMin = 4 << 10

// exchangeMost is the largest message in bytes that its receiver copies alone where both ranks send. Above, halves are
// quicker in that case, too. Measured: up to here an exchange of one message is a tenth quicker, and many under way are
// as quick as in halves. Many of 4 MiB would be less than half as quick.
const exchangeMost = 1 << 20

// directStep is how many bytes one poll copies at most.
const directStep = 256 << 10

// copier does the copies of one rank, oldest first, in polls.
type copier struct {
	conduit conduit.Direct // nil if the conduit cannot
	busy    atomic.Int32   // copies that are listed
	active  spin.Lock      // tried, never waited for: held by whoever copies a piece of the first
	mu      spin.Lock      // guards list; the first entry is changed by the holder of active only
	list    []copyJob
}

// copyJob is one half of a message on its way.
type copyJob struct {
	o     *op
	peer  int
	fetch bool
	local []byte
	addr  uint64 // at the peer
	tell  uint64 // the peer's number for the message
	whole bool   // there is no other half
}

// address of b for a peer. The op keeps b alive, and the collector does not move it.
func address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// directTo gives the address that the envelope of the send o carries, 0 if the message is not to be copied directly.
func (s *Server) directTo(o *op) uint64 {
	if !s.mayCopy(o) || !s.copies.conduit.DirectTo(int(o.peer)) {
		return 0
	}
	return address(o.data)
}

// mayCopy tells whether the send o is one that may be copied directly, wherever its peer is.
func (s *Server) mayCopy(o *op) bool {
	return s.copies.conduit != nil && !o.endable && o.size >= directMin
}

// beginDirect starts the copies of a message whose bytes are at addr of the sender's memory; false if this rank cannot
// reach it, or it is not worth it.
func (s *Server) beginDirect(o *op, id, addr uint64) bool {
	if addr == 0 || o.want < directMin || s.copies.conduit == nil || !s.copies.conduit.DirectTo(int(o.peer)) {
		return false
	}
	if o.endable || o.alone || o.want <= exchangeMost && s.peers[o.peer].offers.Load() > 0 {
		s.fetchWhole(o, id, addr)
		return true
	}
	half := o.want / 2 &^ (pageBytes - 1)
	o.parts.Store(2)
	o.direct = true
	own := s.ids.add(o)
	o.id = own
	src := int(o.peer)
	s.control(src, handlerGo, id, own, address(o.data[half:o.want]), uint64(half), uint64(o.want))
	s.copies.add(copyJob{o: o, peer: src, fetch: true, local: o.data[:half], addr: addr, tell: id})
	s.askedLate(own, src)
	return true
}

// fetchWhole has this rank alone copy the message, so that its end does not depend on what the sender does meanwhile. The
// sender is then told that nothing more is wanted of it.
func (s *Server) fetchWhole(o *op, id, addr uint64) {
	o.parts.Store(1)
	o.direct = true
	s.copies.add(copyJob{o: o, peer: int(o.peer), fetch: true, local: o.data[:o.want], addr: addr, tell: id, whole: true})
}

// pageBytes is what halves are rounded to, so that the copies do not share lines or pages.
const pageBytes = 4096

// onGo starts the sender's half.
func (s *Server) onGo(t *am.Token, args []uint64, _ []byte) {
	if len(args) != 5 {
		s.fault(t, "go")
		return
	}
	o := s.ids.get(args[0])
	if o == nil { // the send was ended meanwhile
		return
	}
	from, to := args[3], args[4]
	if o.role != roleSend || int(o.peer) != t.Source() || o.direct || !s.mayCopy(o) || from > to || to > uint64(len(o.data)) {
		s.fault(t, "go")
		return
	}
	o.direct = true
	o.parts.Add(1)
	s.copies.add(copyJob{o: o, peer: t.Source(), local: o.data[from:to], addr: args[2], tell: args[1]})
}

// onCopied notes that the peer has done its half.
func (s *Server) onCopied(t *am.Token, args []uint64, _ []byte) {
	if len(args) != 2 {
		s.fault(t, "copied")
		return
	}
	o := s.ids.remove(args[0])
	if o == nil { // it was ended meanwhile
		return
	}
	if int(o.peer) != t.Source() || !o.direct {
		s.fault(t, "copied")
		return
	}
	if args[1] != 0 {
		s.failed(o, o.failed(fmt.Errorf("%w: it could not reach the memory of rank %d", ErrPeer, s.rank)))
	}
	o.part(t.Worker())
}

func (c *copier) add(j copyJob) {
	c.mu.Lock()
	c.list = append(c.list, j)
	c.mu.Unlock()
	c.busy.Add(1)
}

// waits says whether there is something to be copied, or being copied.
func (c *copier) waits() bool { return c.busy.Load() > 0 }

// copyAWhile copies a piece of the oldest copy; it returns the number of pieces. Polls call it, without a lock.
func (s *Server) copyAWhile(w *fult.Worker) int {
	c := &s.copies
	if c.busy.Load() == 0 || !c.active.TryLock() {
		return 0
	}
	c.mu.Lock()
	if len(c.list) == 0 {
		c.mu.Unlock()
		c.active.Unlock()
		return 0
	}
	j := c.list[0]
	c.mu.Unlock()
	err := s.copyPiece(&j)
	if s.closed.Load() {
		err = ErrClosed
	}
	if err == nil && len(j.local) > 0 {
		c.mu.Lock()
		c.list[0] = j
		c.mu.Unlock()
		c.active.Unlock()
		return 1
	}
	c.dropFirst()
	c.active.Unlock()
	s.copied(j, err, w)
	return 1
}

// copyPiece moves a bounded part of j.
func (s *Server) copyPiece(j *copyJob) (err error) {
	n := min(len(j.local), directStep)
	if j.fetch {
		err = s.copies.conduit.Fetch(j.peer, j.local[:n], j.addr)
	} else {
		err = s.copies.conduit.Put(j.peer, j.addr, j.local[:n])
	}
	j.local, j.addr = j.local[n:], j.addr+uint64(n)
	return err
}

func (c *copier) dropFirst() {
	c.mu.Lock()
	copy(c.list, c.list[1:])
	c.list[len(c.list)-1] = copyJob{}
	c.list = c.list[:len(c.list)-1]
	c.mu.Unlock()
	c.busy.Add(-1)
}

// copied ends this rank's half.
func (s *Server) copied(j copyJob, err error, w *fult.Worker) {
	failed := uint64(0)
	if err != nil {
		failed = 1
		reason := ErrPeer
		if s.closed.Load() {
			reason = ErrClosed
		}
		s.failed(j.o, j.o.failed(fmt.Errorf("%w: %w", reason, err)))
	}
	if j.whole {
		s.control(j.peer, handlerCTS, j.tell, 0, 0)
	} else {
		s.control(j.peer, handlerCopied, j.tell, failed)
	}
	j.o.part(w)
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
	s.ids.each(func(_ uint64, o *op) {
		if o.role == roleRecv && o.direct {
			mine = append(mine, o.data)
		}
	})
	if len(mine) > 0 {
		strays.mu.Lock()
		strays.list = append(strays.list, mine...)
		strays.mu.Unlock()
	}
}

// failed keeps the first error of an operation that more than one may end.
func (s *Server) failed(o *op, err error) {
	s.errMu.Lock()
	if o.err == nil {
		o.err = err
	}
	s.errMu.Unlock()
}
