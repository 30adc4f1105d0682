// Package vtime carries messages between the ranks of a simulated job in virtual time. It reads no clock and starts
// nothing. Time jumps from one event to the next; events at one time come in the order in which they were made.
package vtime

import "time"

// Link is the way between any two ends, after the LogGP model.
type Link struct {
	Latency  time.Duration // from when a message has left until it can be taken in
	Overhead time.Duration // of the processor, for each message, at the sender and at the receiver
	Rate     float64       // bytes per second that an end can send, and take in; 0: no limit
}

// occupied is how long a message of so many bytes keeps an end's wire busy.
func (l *Link) occupied(size int) time.Duration {
	if l.Rate <= 0 {
		return 0
	}
	return time.Duration(float64(size) / l.Rate * 1e9)
}

// Traffic is what an end has sent.
type Traffic struct {
	Messages, Bytes int64
}

// Net is a number of ends and what is on its way between them. M is what a message means.
type Net[M any] struct {
	// Take is called for each message that is taken in, and each alarm, of which from is Alarm.
	Take func(to, from int, m M)
	// Now is the time of the end for which Take is called.
	Now  time.Duration
	Sent []Traffic // by end

	link Link
	busy []until // by end
	heap []event[M]
	made uint64
}

// Alarm is the sender of an alarm.
const Alarm = -1

// until is when an end can do the next thing of a kind.
type until struct{ send, take time.Duration }

type event[M any] struct {
	at       time.Duration
	made     uint64
	from, to int32
	size     int32
	m        M
}

// New makes a net of so many ends.
func New[M any](ends int, link Link) *Net[M] {
	return &Net[M]{Sent: make([]Traffic, ends), link: link, busy: make([]until, ends)}
}

// Send sends a message of size bytes, in so many packets of which each costs the overhead.
func (n *Net[M]) Send(from, to, size, packets int, m M) {
	b := &n.busy[from]
	b.send = max(b.send, n.Now) + n.link.Overhead*time.Duration(packets) + n.link.occupied(size)
	n.Sent[from].Messages += int64(packets)
	n.Sent[from].Bytes += int64(size)
	n.push(event[M]{at: b.send + n.link.Latency, from: int32(from), to: int32(to), size: int32(size), m: m})
}

// After calls an end after d.
func (n *Net[M]) After(end int, d time.Duration, m M) {
	n.push(event[M]{at: n.Now + d, from: Alarm, to: int32(end), m: m})
}

// Run lets time pass until nothing happens any more. It returns the time of the last event.
func (n *Net[M]) Run() (last time.Duration) {
	for len(n.heap) > 0 {
		e := n.pop()
		b := &n.busy[e.to]
		if e.from == Alarm {
			n.Now = max(e.at, b.take)
		} else {
			n.Now = max(e.at, b.take+n.link.occupied(int(e.size))) + n.link.Overhead
			b.take = n.Now
		}
		last = max(last, n.Now)
		n.Take(int(e.to), int(e.from), e.m)
	}
	return last
}

func (n *Net[M]) less(i, j int) bool {
	a, b := &n.heap[i], &n.heap[j]
	return a.at < b.at || a.at == b.at && a.made < b.made
}

func (n *Net[M]) push(e event[M]) {
	n.made++
	e.made = n.made
	n.heap = append(n.heap, e)
	for i := len(n.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !n.less(i, up) {
			break
		}
		n.heap[i], n.heap[up] = n.heap[up], n.heap[i]
		i = up
	}
}

func (n *Net[M]) pop() event[M] {
	first, last := n.heap[0], len(n.heap)-1
	n.heap[0] = n.heap[last]
	n.heap[last] = event[M]{} // what it holds may go
	n.heap = n.heap[:last]
	for i := 0; ; {
		down := 2*i + 1
		if down >= last {
			break
		}
		if down+1 < last && n.less(down+1, down) {
			down++
		}
		if !n.less(down, i) {
			break
		}
		n.heap[i], n.heap[down] = n.heap[down], n.heap[i]
		i = down
	}
	return first
}
