package relay

import (
	"sync"
	"time"

	"github.com/golci/golci/internal/transport/badnet"
)

// direction drives one Impair by the clock: its run sends what is due.
type direction struct {
	send func(packet []byte) // called by run only
	kick chan struct{}       // one place: held has changed
	done chan struct{}

	mu     sync.Mutex // guards impair
	impair *badnet.Impair
}

// newDirection needs Faults that were checked.
func newDirection(f badnet.Faults, send func([]byte)) *direction {
	i, _ := badnet.New(f)
	return &direction{send: send, kick: make(chan struct{}, 1), done: make(chan struct{}), impair: i}
}

func (l *direction) pushPacket(now time.Duration, packet []byte) {
	l.mu.Lock()
	l.impair.Push(now, packet)
	l.mu.Unlock()
	select {
	case l.kick <- struct{}{}:
	default:
	}
}

// sendDue sends each packet when it is due, until done is closed.
func (l *direction) sendDue(now func() time.Duration) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var buf []byte
	for {
		packet, wait, ok := l.popDue(buf, now())
		buf = packet
		if ok {
			l.send(packet)
			continue
		}
		var due <-chan time.Time
		if wait > 0 {
			timer.Reset(wait)
			due = timer.C
		}
		select {
		case <-l.done:
			return
		case <-l.kick:
		case <-due:
		}
	}
}

// popDue copies the next packet that is due into buf, or returns the time until one will be; 0 if none is held.
func (l *direction) popDue(buf []byte, now time.Duration) (packet []byte, wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p, _, ok := l.impair.Pop(now); ok {
		return append(buf[:0], p...), 0, true
	}
	if due, some := l.impair.Next(); some {
		return buf, max(due-now, 1), false
	}
	return buf, 0, false
}

func (l *direction) counts() badnet.Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.impair.Counts()
}
