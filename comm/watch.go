package comm

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/golci/golci/comm/internal/match"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/hashtable"
	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/internal/progress"
)

// Two kinds of calls watch for messages that find no receive: probes, which wait for such a message, and listeners.
// storeUnexpected wakes both.

// probes are the calls that wait for a message that they do not receive. Arrivals without a receive wake them.
type probes struct {
	n    atomic.Int32 // length of list: arrivals pass by without the lock
	mu   sync.Mutex   // guards list; no lock is taken under it
	list []*prober
}

// prober is a probe that waits. The one that takes it off the list may set err, and completes done.
type prober struct {
	done progress.Done
	op   pending.Op
	err  error // why it ends
}

func (x *probes) addProbe(p *prober) {
	x.mu.Lock()
	x.list = append(x.list, p)
	x.mu.Unlock()
	x.n.Add(1)
}

func (x *probes) dropProbe(p *prober) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if i := slices.Index(x.list, p); i >= 0 {
		x.list = slices.Delete(x.list, i, i+1)
		x.n.Add(-1)
	}
}

// wakeProbers makes all waiting probes look again.
func (s *Server) wakeProbers(w *fult.Worker) {
	x := &s.probes
	x.mu.Lock()
	woken := x.list
	x.list = nil
	x.n.Add(-int32(len(woken)))
	x.mu.Unlock()
	for _, p := range woken {
		p.done.Complete(w)
	}
}

// endProbes ends the probes for which why gives an error.
func (s *Server) endProbes(why func(*pending.Op) error, w *fult.Worker) {
	x := &s.probes
	var ended []*prober
	x.mu.Lock()
	left := x.list[:0]
	for _, p := range x.list {
		if p.err = why(&p.op); p.err != nil {
			ended = append(ended, p)
		} else {
			left = append(left, p)
		}
	}
	clear(x.list[len(left):])
	x.list = left
	x.n.Add(-int32(len(ended)))
	x.mu.Unlock()
	for _, p := range ended {
		p.done.Complete(w)
	}
}

// eachProbe shows the waiting probes.
func (s *Server) eachProbe(show func(*pending.Op)) {
	s.probes.mu.Lock()
	defer s.probes.mu.Unlock()
	for _, p := range s.probes.list {
		show(&p.op)
	}
}

// A call that waits for one message of a context may want to know of another one: a message that shows that the one
// it waits for never comes. It listens, and is told of messages for which no receive is posted.

// Listener is told of unmatched messages of one context.
type Listener struct {
	// Context is that of the messages. Suspect is asked, by the poller, whether one of them is worth a wake-up; it
	// must not block. Both are set before Listen.
	Context uint16
	Suspect func(src, tag int) bool
	// Alarm ends the waits of AwaitOr, Linger and TryRecvThenPost. Anyone may complete it, any number of times; the
	// waiter alone resets it.
	Alarm progress.Done
}

// listeners are those that listen. n lets the poller pass by without the lock.
type listeners struct {
	n    atomic.Int32
	mu   sync.Mutex
	list []*Listener // under mu
}

// Listen has l told of messages that come from now on; those that came before are found by Unmatched. Not twice for
// one l.
func (s *Server) Listen(l *Listener) {
	s.listeners.mu.Lock()
	s.listeners.list = append(s.listeners.list, l)
	s.listeners.mu.Unlock()
	s.listeners.n.Add(1) // before Unmatched locks the bucket of a message: it is found there, or told of
}

// Unlisten ends that. Suspect is not called any more when it has returned; the alarm may go off once more.
func (s *Server) Unlisten(l *Listener) {
	s.listeners.mu.Lock()
	defer s.listeners.mu.Unlock()
	for i, x := range s.listeners.list {
		if x == l {
			s.listeners.list = append(s.listeners.list[:i], s.listeners.list[i+1:]...)
			s.listeners.n.Add(-1)
			return
		}
	}
}

// wakeSuspects wakes those that suspect the message that was kept under key. Called by the poller.
func (s *Server) wakeSuspects(key uint64, w *fult.Worker) {
	var woken [4]*progress.Done // more than listen in one context
	n := 0
	s.listeners.mu.Lock()
	for _, l := range s.listeners.list {
		if n < len(woken) && l.Context == keyContext(key) && l.Suspect(keySource(key), keyTag(key)) {
			woken[n] = &l.Alarm
			n++
		}
	}
	s.listeners.mu.Unlock()
	for _, d := range woken[:n] {
		d.Complete(w)
	}
}

// Unmatched calls f with source and tag of each unmatched message in ctx. f must not block. If there is a message in
// any context, it looks through all that waits. Else it is quick.
func (s *Server) Unmatched(ctx uint16, f func(src, tag int)) {
	if s.envelopes.Load() == 0 && !s.Unread() {
		return
	}
	s.matching.eachWaiting(func(c uint16, side hashtable.Side, _ match.Pattern, m *op) {
		if c == ctx && side == hashtable.Arrive {
			f(int(m.peer), int(m.tag))
		}
	})
}

// Unread reports whether messages of other ranks wait that came with their bytes. It is quick, and right for messages
// that have been there for a while.
func (s *Server) Unread() bool {
	for i := range s.peers {
		if s.peers[i].unexpected.Load() > 0 {
			return true
		}
	}
	return false
}
