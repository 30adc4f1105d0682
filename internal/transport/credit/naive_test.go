package credit

import "slices"

// naive is the algorithm as the Portals conduit's note has it, hazards included, with messages that arrive at once. It
// is here to show that each scenario finds what it is about.
type naive struct {
	c     Config
	ranks []*naiveRank
	sys   []naiveMessage
	apart bool // the list is changed after the state has been unlocked
}

type naiveRank struct {
	bank, inFlight, requests int
	list                     []int
	late                     []func() // changes of the list that are still to come
	peers                    []naivePeer
}

type naivePeer struct {
	loan, requested, given                  int  // lent to the peer
	send, inUse, sendMax, stalls, sendGiven int  // lent by the peer
	flying, zero, reached                   bool // flags
}

type naiveMessage struct {
	src, dst, n   int
	revoke, epoch bool
}

func newNaive(c Config, ranks int) *naive {
	m := &naive{c: c}
	for range ranks {
		r := &naiveRank{bank: c.Bank, peers: make([]naivePeer, ranks)}
		for j := range r.peers {
			r.peers[j].loan, r.peers[j].send = c.PerPeer, c.PerPeer
		}
		m.ranks = append(m.ranks, r)
	}
	return m
}

func (m *naive) pair(y, x int) (lent, sent *naivePeer) {
	return &m.ranks[y].peers[x], &m.ranks[x].peers[y]
}

func (p *naivePeer) decaySend() {
	p.sendMax >>= 2
	p.stalls >>= 2
	p.sendGiven >>= 2
}

func (m *naive) send(x, y, n int) bool {
	_, p := m.pair(y, x)
	if n > p.send-p.inUse {
		p.stalls++
		return false
	}
	p.inUse += n
	p.sendMax = max(p.sendMax, p.inUse)
	return true
}

func (m *naive) receive(y, x, n int) {
	_, p := m.pair(y, x)
	p.inUse -= n
	r := m.ranks[y]
	if r.requests++; r.requests%m.c.Epoch == 0 {
		for i := range r.peers {
			q := &r.peers[i]
			q.requested >>= 2
			q.given >>= 2
			q.zero, q.reached = false, true
		}
	}
	if q := &r.peers[x]; q.reached {
		q.reached = false
		p.decaySend()
	}
}

func (m *naive) need(y, x, n int) {
	r := m.ranks[y]
	q, p := m.pair(y, x)
	q.requested++
	if n > r.bank {
		m.scavenge(y)
		return
	}
	if q.given+n > m.c.LenderLimit || q.loan+n > m.c.Max {
		return
	}
	if r.bank -= n; q.loan == m.c.Min {
		m.change(r, func() {
			if !slices.Contains(r.list, x) {
				r.list = append(r.list, x)
			}
		})
	}
	q.loan += n
	q.given += n
	p.send += n
}

func (m *naive) change(r *naiveRank, f func()) {
	if m.apart {
		r.late = append(r.late, f)
		return
	}
	f()
}

// meet has the changes of the list happen, the last one first.
func (m *naive) meet() {
	m.apart = false
	for _, r := range m.ranks {
		for _, f := range slices.Backward(r.late) {
			f()
		}
		r.late = nil
	}
}

func (m *naive) scavenge(y int) {
	r := m.ranks[y]
	for range len(r.list) {
		if r.inFlight >= m.c.Scavenge {
			return
		}
		x := r.list[0]
		r.list = append(r.list[1:], x)
		q := &r.peers[x]
		if q.flying || q.loan <= m.c.Min || q.zero || q.requested > 0 {
			continue
		}
		q.flying = true
		r.inFlight++
		m.sys = append(m.sys, naiveMessage{src: y, dst: x, revoke: true, epoch: q.reached})
		q.reached = false
	}
}

func (m *naive) serve(s naiveMessage) {
	if s.revoke {
		_, p := m.pair(s.src, s.dst)
		if s.epoch {
			p.decaySend()
		}
		n := min(p.send-max(m.c.Min, p.sendMax), m.c.RevokeLimit-p.sendGiven)
		if p.stalls > 0 || p.sendGiven >= m.c.RevokeLimit {
			n = 0
		}
		p.send -= n
		p.sendGiven += n
		m.sys = append(m.sys, naiveMessage{src: s.dst, dst: s.src, n: n})
		return
	}
	r, q := m.ranks[s.dst], &m.ranks[s.dst].peers[s.src]
	q.flying = false
	r.inFlight--
	if s.n == 0 {
		q.zero = true
		return
	}
	q.loan -= s.n
	r.bank += s.n
	if q.loan == m.c.Min {
		m.change(r, func() { r.list = slices.DeleteFunc(r.list, func(i int) bool { return i == s.src }) })
	}
}
