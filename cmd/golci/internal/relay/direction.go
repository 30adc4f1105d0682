package relay

import (
	"sync"
	"time"

	"github.com/golci/golci/internal/transport/badnet"
)

// direction drives one Impair by the clock.
type direction struct {
	send func(packet []byte) // does not block; called under mu
	now  func() time.Duration

	mu     sync.Mutex // guards the rest
	impair *badnet.Impair
	timer  *time.Timer // calls sendLate
	closed bool
}

// newDirection needs Faults that were checked.
func newDirection(f badnet.Faults, now func() time.Duration, send func([]byte)) *direction {
	i, _ := badnet.New(f)
	d := &direction{send: send, now: now, impair: i}
	d.timer = time.AfterFunc(time.Hour, d.sendLate)
	return d
}

// pushPacket takes a packet, and sends what is due.
func (d *direction) pushPacket(packet []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	d.impair.Push(now, packet)
	d.sendDue(now)
}

func (d *direction) sendLate() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sendDue(d.now())
}

// sendDue sends what is due, and sets the timer for the next packet. mu is held.
func (d *direction) sendDue(now time.Duration) {
	if d.closed {
		return
	}
	for {
		p, ok := d.impair.Take(now)
		if !ok {
			break
		}
		d.send(p.Data)
		d.impair.Free(p.Data)
	}
	if due, ok := d.impair.Next(); ok {
		d.timer.Reset(due - now)
	}
}

// closeDirection ends it: what is held is lost.
func (d *direction) closeDirection() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	d.timer.Stop()
}

func (d *direction) counts() badnet.Counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.impair.Counts()
}
