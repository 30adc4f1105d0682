package rma

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/am"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/spin"
	"github.com/golci/golci/internal/progress"
)

// Notification counters lie behind the segment, a cache line each, so that a peer that reaches the memory counts there
// itself. A waiter says so in the same line; a counter looks there and sends a message if it must.
//
//	0 the count
//	8 1 while somebody waits, or is about to
const counterStride = 64

func (m *Memory) counterAt(size int64) int64 {
	return (size + counterStride - 1) &^ (counterStride - 1)
}

// counter is one of them, in the memory that counters views.
type counter struct {
	count   *atomic.Uint64
	waiting *atomic.Uint32
}

func counterOf(counters []byte, c int) counter {
	at := counters[c*counterStride : (c+1)*counterStride]
	return counter{(*atomic.Uint64)(unsafe.Pointer(&at[0])), (*atomic.Uint32)(unsafe.Pointer(&at[8]))}
}

func (m *Memory) counter(c int) counter { return counterOf(m.mem[m.counterAt(m.size):], c) }

// Counter is the count of this rank's counter c; 0 if there is no such counter.
func (m *Memory) Counter(c int) uint64 {
	if c < 0 || c >= m.counters {
		return 0
	}
	return m.countOf(c)
}

// PutNotify is a Put after which peer's counter is raised by add: whoever sees the new count there sees the bytes.
// src may be empty. ErrArgument if there is no such counter.
//
// It returns when the bytes are there and have been counted; see Put for blocking and errors. Where peers share
// memory it may also block for credits, to wake a rank that sleeps.
func (m *Memory) PutNotify(peer int, off int64, src []byte, counter int, add uint64) error {
	return waitStarted(m.PutNotifyNB(peer, off, src, counter, add))
}

// PutNotifyNB starts a PutNotify. src may be reused when it returns, for which it may block.
func (m *Memory) PutNotifyNB(peer int, off int64, src []byte, counter int, add uint64) (Handle, error) {
	if counter < 0 || counter >= m.counters {
		return Handle{}, fmt.Errorf("%w: counter %d of %d, at rank %d", ErrArgument, counter, m.counters, peer)
	}
	if off > offsetMask {
		return Handle{}, fmt.Errorf("%w: rank %d: counters are of the segment alone", ErrArgument, peer)
	}
	t, err := m.checkAccess(peer, off, len(src))
	if err != nil {
		return Handle{}, err
	}
	if t.mem == nil {
		return m.putNote(t, off, src, uint64(counter), add)
	}
	m.copyOut(peer, t.bytesAt(off, len(src)), src)
	return Handle{}, m.raiseCounter(t, counter, add)
}

// raiseCounter raises a counter that is reached directly. Counting orders the bytes before the count, and the count
// before the look for somebody who waits; a waiter says that it waits before it looks at the count. One sees the other.
func (m *Memory) raiseCounter(t *target, c int, add uint64) error {
	k := counterOf(t.counters, c)
	m.fenceWrite()
	k.count.Add(add)
	if k.waiting.Load() == 0 || !k.waiting.CompareAndSwap(1, 0) {
		return nil
	}
	if t.rank == m.rank {
		m.notes.wakeReached(m, c, nil)
		return nil
	}
	return m.e.RequestShort(t.rank, hRing, 0, uint64(c))
}

// putNote sends bytes and notification in one message; the kind of notification is in the upper half of note.
func (m *Memory) putNote(t *target, off int64, src []byte, note, arg uint64) (Handle, error) {
	o, err := m.newOp(t.rank, 1, nil, result{})
	if err != nil {
		return Handle{}, err
	}
	h := o.handleOf()
	o.send = sendState{kind: sendOne, h: hNote, nargs: 3, off: off, src: src}
	o.send.args = [maxArgs]uint64{uint64(off), note, arg}
	if len(src) > m.frag {
		err = m.launchLong(o, hNoteLong, uint64(off), note, arg)
	} else {
		err = m.launchNow(o)
	}
	if err != nil {
		return Handle{}, err
	}
	return h, nil
}

// Callback is told of a put: that src has put n bytes at offset off of this rank's segment, and the argument that it
// gave. It runs inside a poll, as handlers do: it must not block and must not access remote memory.
type Callback func(src int, off int64, n int, arg uint64)

// OnPut makes f the callback of that number, on this rank. Call it before a peer can name it; a put that names a number
// without a callback is a fault of this rank.
func (m *Memory) OnPut(number uint8, f Callback) { m.calls[number].Store(&f) }

const noteCall = 1 << 32 // marks a notification that is a callback

// PutCall is a Put after which the callback of that number runs at peer, with arg. It returns when the bytes are
// there; where peers share memory the callback may run later, when the peer polls.
func (m *Memory) PutCall(peer int, off int64, src []byte, number uint8, arg uint64) error {
	return waitStarted(m.PutCallNB(peer, off, src, number, arg))
}

// PutCallNB starts a PutCall. src may be reused when it returns, for which it may block.
func (m *Memory) PutCallNB(peer int, off int64, src []byte, number uint8, arg uint64) (Handle, error) {
	t, err := m.checkAccess(peer, off, len(src))
	if err != nil {
		return Handle{}, err
	}
	if t.mem == nil {
		return m.putNote(t, off, src, noteCall|uint64(number), arg)
	}
	m.copyOut(peer, t.bytesAt(off, len(src)), src)
	return Handle{}, m.e.RequestShort(peer, hCall, 0, uint64(off), uint64(len(src)), uint64(number), arg)
}

// onNotify does at the target what a notification says.
func (m *Memory) onNotify(t *am.Token, off int64, n int, note, arg uint64) error {
	number := uint32(note)
	if note&noteCall == 0 {
		if int64(number) >= int64(m.counters) {
			return fmt.Errorf("counter %d of %d", number, m.counters)
		}
		k := m.counter(int(number))
		k.count.Add(arg)
		if k.waiting.Load() != 0 {
			m.notes.wakeReached(m, int(number), t.Worker())
		}
		return nil
	}
	f := m.calls[uint8(number)].Load()
	if f == nil {
		return fmt.Errorf("there is no callback %d", number)
	}
	(*f)(t.Source(), off, n, arg)
	return nil
}

func (m *Memory) onNote(t *am.Token, a []uint64, p []byte) error {
	d, ok := m.localBytes(a[1], uint64(len(p)))
	if !ok {
		return m.ack(t, a[0], false)
	}
	copy(d, p)
	return m.onNoteLong(t, a, p)
}

func (m *Memory) onNoteLong(t *am.Token, a []uint64, p []byte) error {
	if err := m.onNotify(t, int64(a[1]), len(p), a[2], a[3]); err != nil {
		return err
	}
	return m.ack(t, a[0], true)
}

func (m *Memory) onCall(t *am.Token, a []uint64, _ []byte) error {
	return m.onNotify(t, int64(a[1]), int(a[2]), noteCall|a[3], a[4])
}

func (m *Memory) onRing(t *am.Token, a []uint64, _ []byte) error {
	if a[1] >= uint64(m.counters) {
		return fmt.Errorf("counter %d of %d", a[1], m.counters)
	}
	m.notes.wakeReached(m, int(a[1]), t.Worker())
	return nil
}

// waiter waits for a count.
type waiter struct {
	done  progress.Done
	c     int
	until uint64
	from  []int // the peers that it is to come from
	err   error // written before done
	next  *waiter
}

func (w *waiter) isOver(v uint64) bool { return int64(v-w.until) >= 0 }

var waiterPool = sync.Pool{New: func() any { return new(waiter) }}

// waiters are those of one rank.
type waiters struct {
	mu   spin.Lock // guards the list
	head *waiter
}

const countLooks = 512 // at the count, with polls between, before a waiter goes to sleep

// WaitCounter blocks the calling goroutine or thread until this rank's counter c has reached until, and polls while
// nobody else does. Counts wrap: one has reached until if it is ahead of it by less than half the range. If one of
// the peers in from dies first, the error is ErrPeer. ErrArgument if there is no such counter.
func (m *Memory) WaitCounter(c int, until uint64, from ...int) error {
	if c < 0 || c >= m.counters {
		return fmt.Errorf("%w: counter %d of %d", ErrArgument, c, m.counters)
	}
	for _, p := range from {
		if uint(p) >= uint(len(m.peers)) {
			return m.rankError(p)
		}
	}
	if err := m.allowCall(am.CallWait); err != nil {
		return err
	}
	if m.lookAtCount(c, until) {
		return nil
	}
	w := waiterPool.Get().(*waiter)
	w.c, w.until, w.from, w.err = c, until, from, nil
	m.prog.Begin(&w.done)
	m.notes.addWaiter(w)
	if m.closed.Load() {
		m.notes.failAll(fmt.Errorf("%w: rank %d", ErrClosed, m.rank))
	}
	m.notes.lookAll(nil, m)
	m.prog.Wait(&w.done)
	err := w.err
	w.from = nil
	waiterPool.Put(w)
	return err
}

// lookAtCount looks and polls for a while.
func (m *Memory) lookAtCount(c int, until uint64) bool {
	w := waiter{until: until}
	t := m.prog.Current()
	for n := range countLooks {
		if w.isOver(m.countOf(c)) {
			return true
		}
		m.e.Poll()
		switch {
		case t != nil && (t.Worker().Live() > 1 || t.Worker().Runnable()):
			return false
		case n%64 == 63 && t == nil:
			runtime.Gosched()
		}
	}
	return false
}

func (l *waiters) addWaiter(w *waiter) {
	l.mu.Lock()
	w.next = l.head
	l.head = w
	l.mu.Unlock()
}

// takeMatching removes those that f wants and links them before out.
func (l *waiters) takeMatching(out *waiter, f func(w *waiter) bool) *waiter {
	for p := &l.head; *p != nil; {
		w := *p
		if !f(w) {
			p = &w.next
			continue
		}
		*p = w.next
		w.next, out = out, w
	}
	return out
}

// endMatching takes those out that f wants, and completes them.
func (l *waiters) endMatching(worker *fult.Worker, f func(w *waiter) bool) {
	l.mu.Lock()
	out := l.takeMatching(nil, f)
	l.mu.Unlock()
	completeWaiters(out, worker)
}

// wakeReached lets those go on that wait for counter c and whose count has come. It notes if others are left.
func (l *waiters) wakeReached(m *Memory, c int, worker *fult.Worker) {
	k := m.counter(c)
	l.mu.Lock()
	v := m.countOf(c)
	var out *waiter
	for {
		left := false
		out = l.takeMatching(out, func(w *waiter) bool {
			mine := w.c == c
			left = left || mine && !w.isOver(v)
			return mine && w.isOver(v)
		})
		if !left {
			break
		}
		k.waiting.Store(1) // before the count is looked at again; see raiseCounter
		again := m.countOf(c)
		if again == v {
			break
		}
		v = again
	}
	l.mu.Unlock()
	completeWaiters(out, worker)
}

func completeWaiters(out *waiter, worker *fult.Worker) {
	for out != nil {
		w := out
		out = w.next
		w.next = nil
		w.done.Complete(worker)
	}
}

// failAll ends all waits.
func (l *waiters) failAll(err error) {
	l.endMatching(nil, func(w *waiter) bool {
		w.err = err
		return true
	})
}

// lookAll lets go on whose count has come, and ends waits for a count from a peer that has died. A rank that dies after
// it has counted may not have sent its message, so every waiter says again that it waits.
func (l *waiters) lookAll(worker *fult.Worker, m *Memory) {
	l.endMatching(worker, func(w *waiter) bool {
		k := m.counter(w.c)
		if k.waiting.Load() == 0 {
			k.waiting.Store(1) // before the count is looked at; see raiseCounter
		}
		return w.isOver(m.countOf(w.c)) || w.fromDead(m)
	})
}

// fromDead notes the death of a peer that the count was to come from.
func (w *waiter) fromDead(m *Memory) bool {
	for _, p := range w.from {
		if m.e.Gone(p) {
			w.err = m.e.PeerError(p)
			return true
		}
	}
	return false
}
