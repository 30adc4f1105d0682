package reliable

import (
	"errors"
	"fmt"
	"time"
)

const (
	// maxWays is by how many ways packets to a peer may go.
	maxWays = 8
	// proofs is how many packets must have come back before a peer is dead, and how many questions are asked.
	proofs = 3
)

// ErrRefused is matched by the error of a peer whose machine returns packets, or of which Suspect was told, and which
// answers no question.
var ErrRefused = errors.New("reliable: nobody is there")

// suspicion is what speaks against a peer since it was heard last. Packets that come back begin it: the peer's machine
// says that nobody takes them. That is no proof, as somebody else may have said it. So the peer is asked at once, and
// again after each round trip. It is dead if enough packets have come back, by each way, and no question is answered.
type suspicion struct {
	active bool
	left   uint8         // questions that were not asked
	asked  uint32        // those that were
	since  time.Duration // when it began
	count  uint8         // packets that have come back
	ways   uint8         // by which they went, a bit each
	from   uint64        // packets with lower numbers count no more
	next   time.Duration // when the next question or the verdict is due; never if neither is
	free   time.Duration // the next series of questions does not begin before
}

// Refused takes in that packet number, which went to peer by a way below Link.Ways, has come back. The caller has
// checked that it was sent. It does nothing if there is no such peer, or if a later packet has come back.
func (e *Endpoint) Refused(id, way int, number uint64, now time.Duration) {
	p := e.peers.peerAt(id)
	if p == nil || number < p.suspicion.from || number >= p.number || way < 0 || way >= maxWays {
		return
	}
	d := &p.suspicion
	d.from = number + 1
	d.count = min(d.count+1, proofs)
	d.ways |= 1 << way
	p.question(max(proofs, uint8(p.ways)), now)
}

// Suspect takes in that peer is dead, as another rank says or the system does. Either is believed, but one question is
// asked. If it is not answered the peer is dead. It does nothing if there is no such peer.
func (e *Endpoint) Suspect(id int, now time.Duration) {
	p := e.peers.peerAt(id)
	if p == nil {
		return
	}
	d := &p.suspicion
	d.count, d.ways, d.left = proofs, p.allWays(), min(d.left, 1)
	p.question(1, now)
}

func (p *peer) allWays() uint8 { return uint8(1<<p.ways - 1) }

// question begins a series of questions, unless one is under way.
func (p *peer) question(n uint8, now time.Duration) {
	p.touch(now)
	d := &p.suspicion
	if !d.active {
		d.active, d.since = true, now
	}
	if d.next == never {
		d.left, d.next = n, max(now, d.free)
		p.wakeAt(d.next)
	}
}

// trust ends the suspicion: the peer was heard.
func (p *peer) trust() {
	p.suspicion = suspicion{from: p.suspicion.from, free: p.suspicion.free, next: never}
}

// questionEvery is the time between questions: two of the shortest round trip of late. The mean would not do. Ranks that
// are busy at the start of a job take long to answer, and may be quiet since.
func (p *peer) questionEvery() time.Duration {
	return min(max(p.e.cfg.AskEvery, 2*p.cc.unloaded()), p.e.cfg.KeepAlive)
}

// refused is the verdict, if it is due. If this call is late, the process was stalled, and an answer of the peer may
// still be unread. There is no verdict then.
func (p *peer) refused(now time.Duration) error {
	d := &p.suspicion
	if now < d.next || d.left > 0 || now-d.next > p.questionEvery() || d.count < proofs || d.ways != p.allWays() {
		return nil
	}
	return fmt.Errorf("%w: peer %d was last heard %v ago, and has answered none of %d questions of the last %v", ErrRefused, p.id,
		now-p.heard, d.asked, now-d.since)
}

// suspicionTimer sends the probes that are due. If they have not settled the suspicion, a later refusal begins a new
// round.
func (p *peer) suspicionTimer(now time.Duration) time.Duration {
	d, every := &p.suspicion, p.questionEvery()
	if now < d.next {
		return d.next
	}
	if d.left == 0 && now-d.next <= every {
		d.next = never
		return never
	}
	d.left = max(d.left, 1) - 1
	d.asked++
	d.next, d.free = now+every, now+proofs*every
	p.ask, p.asked = askShort, now
	p.wake()
	return d.next
}
