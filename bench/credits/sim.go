package credits

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/golci/golci/internal/transport/credit"
)

const (
	rate       = 8  // credits that a rank can send in a tick: 2 GB/s
	latency    = 5  // ticks one way
	turnLength = 64 // requests to one peer before the next, where a rank has several
)

// sim is a run under way. No message is sent; all else is as in a job. A tick stands for a microsecond. What a rank
// sends to a peer in one tick travels together. A rank goes away at times, and then neither polls nor sends.
type sim struct {
	c     Config
	p     pattern
	nodes []node
	slots map[[2]int32]uint16 // of a peer (second) at a rank (first)
	r     *rand.Rand

	now      int
	wheel    [][]event // what arrives at tick t is at t modulo its length
	messages [][]system

	received  uint64 // requests
	stalls    uint64
	flyingMax int
	overflow  error
	receivers int
	service   int    // requests that a rank can receive in a tick
	window    int    // credits that a rank has out to one peer at most
	past      totals // at the end of the last row
}

func newSim(c Config) (*sim, error) {
	s := &sim{
		c: c, p: patternOf(c.Pattern), r: rand.New(rand.NewPCG(c.Seed, 1)),
		wheel: make([][]event, latency+1), messages: make([][]system, latency+1),
		nodes: make([]node, c.Ranks), slots: make(map[[2]int32]uint16),
		service: max(1, 4*rate/c.cost), window: 1 << 30,
	}
	if c.Pattern == "static" || c.Pattern == "tree" {
		s.window = turnLength * c.cost
	}
	for i := range s.nodes {
		s.nodes[i].id = i
	}
	if s.connect(); s.overflow != nil {
		return nil, s.overflow
	}
	for i := range s.nodes {
		n := &s.nodes[i]
		k := len(n.links)
		var err error
		if n.ledger, err = credit.NewLedger(c.terms, k, k+1); err != nil {
			return nil, err
		}
		n.listed = make([]bool, k)
		n.out = make([]credit.Borrower, k)
		for j := range n.out {
			if n.out[j], err = credit.Borrow(&s.c.terms); err != nil {
				return nil, err
			}
		}
		s.nextAway(n)
	}
	s.phase(0)
	return s, nil
}

// dense is the number of ranks up to which every pair has its state, so that scavenging finds every peer. Above, only
// pairs that are going to talk have: the others keep the loan they start with, and neither borrow nor are revoked from.
const dense = 400

func (s *sim) connect() {
	if s.c.Ranks <= dense {
		for i := range s.nodes {
			for j := range i {
				s.pair(i, j)
			}
		}
		return
	}
	phases := 1
	if s.p.rotates {
		phases = (s.c.Epochs + s.c.Stay - 1) / s.c.Stay
	}
	for phase := range phases {
		for i := range s.nodes {
			for _, j := range s.p.targets(i, s.c.Ranks, phase, s.c.Seed) {
				s.pair(i, j)
			}
		}
	}
}

// pair gives two ranks a slot for each other, once.
func (s *sim) pair(i, j int) {
	key, back := [2]int32{int32(i), int32(j)}, [2]int32{int32(j), int32(i)}
	if _, ok := s.slots[key]; ok {
		return
	}
	a, b := &s.nodes[i], &s.nodes[j]
	if max(len(a.links), len(b.links)) > math.MaxUint16 {
		s.overflow = fmt.Errorf("%w: a rank has more than %d peers; this pattern is for fewer ranks", ErrConfig,
			math.MaxUint16)
		return
	}
	x, y := uint16(len(a.links)), uint16(len(b.links))
	a.links = append(a.links, link{int32(j), y})
	b.links = append(b.links, link{int32(i), x})
	s.slots[key], s.slots[back] = x, y
}

// phase gives every rank its partners. One that waits for credits sends its request first.
func (s *sim) phase(phase int) {
	receives := make([]bool, len(s.nodes))
	s.receivers = 0
	for i := range s.nodes {
		n := &s.nodes[i]
		var waits []uint16
		if n.stalled {
			waits = []uint16{n.targets[n.turn]}
		}
		n.targets = append(n.targets[:0], waits...)
		n.turn, n.burst = 0, turnLength
		if n.stalled {
			n.burst = 1
		}
		for _, j := range s.p.targets(i, s.c.Ranks, phase, s.c.Seed) {
			n.targets = append(n.targets, s.slots[[2]int32{int32(i), int32(j)}])
			if !receives[j] {
				receives[j] = true
				s.receivers++
			}
		}
	}
}

func (s *sim) nextAway(n *node) {
	n.awayFrom = s.now + 1 + s.r.IntN(2*s.c.period-s.c.Pause)
	n.awayTo = n.awayFrom
	if s.c.Pause > 0 {
		n.awayTo += s.r.IntN(s.c.Pause + 1)
	}
}

// tick lets a unit of virtual time pass.
func (s *sim) tick() error {
	at := s.now % len(s.wheel)
	for _, e := range s.wheel[at] {
		s.nodes[e.node].inbox = append(s.nodes[e.node].inbox, e)
	}
	for _, m := range s.messages[at] {
		s.nodes[m.node].system = append(s.nodes[m.node].system, m)
	}
	s.wheel[at], s.messages[at] = s.wheel[at][:0], s.messages[at][:0]
	for i := range s.nodes {
		n := &s.nodes[i]
		if s.now >= n.awayFrom {
			if s.now < n.awayTo {
				continue
			}
			s.nextAway(n)
		}
		if err := s.step(n); err != nil {
			return fmt.Errorf("%w: tick %d, rank %d: %w", ErrInvariant, s.now, i, err)
		}
	}
	s.now++
	return s.overflow
}

// post sends e to the peer of a slot.
func (s *sim) post(n *node, slot int, e event) {
	to := n.links[slot]
	e.node, e.slot = to.node, to.slot
	at := s.arrival()
	s.wheel[at] = append(s.wheel[at], e)
}

// arrival is where the wheels have what is sent now.
func (s *sim) arrival() int { return (s.now + latency) % len(s.wheel) }

// fly notes credits on their way to a peer, whose receive space must hold them.
func (s *sim) fly(n *node, slot, credits int) {
	to := &s.nodes[n.links[slot].node]
	to.flying += credits
	s.flyingMax = max(s.flyingMax, to.flying)
	if space := s.c.terms.Total(s.c.Ranks); to.flying > space && s.c.terms.Mode != credit.NoFlow {
		s.overflow = fmt.Errorf("%w: tick %d: %d credits in flight to rank %d, room for %d", ErrInvariant,
			s.now, to.flying, to.id, space)
	}
}
