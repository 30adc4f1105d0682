package event

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// FuzzPrograms runs the program that the bytes choose: ranks that create events, wait for them, merge them and trigger
// them, and messages that arrive in any order. Then all arrives. What is wrong is for system.check to find: each waiter
// fires exactly once, with the poison of its event; an event has at most 2N-2 messages.
func FuzzPrograms(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		f.Add(randomBytes(rng, 200))
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		if err := runProgram(choices); err != nil {
			t.Error(err)
		}
	})
}

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// TestRandomPrograms runs programs as FuzzPrograms does, long ones too.
func TestRandomPrograms(t *testing.T) {
	seed := rand.Uint64()
	n := 4000
	if testing.Short() {
		n = 500
	}
	for i := range n {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		if err := runProgram(randomBytes(rng, 50+rng.IntN(1500))); err != nil {
			t.Fatalf("seed %d, program %d: %v", seed, i, err)
		}
	}
}

// program is a system and the bytes that choose what happens to it.
type program struct {
	*system
	choices []byte
	taken   map[simEvent]bool // a merge is to trigger it
	log     []string
}

func runProgram(choices []byte) error {
	p := &program{choices: choices, taken: map[simEvent]bool{}}
	ranks := 3 + p.next(3)
	p.system = newSystem(ranks, 0, p.next(ranks), p.next(ranks))
	p.encode, p.quiet = true, true
	for len(p.choices) > 0 {
		p.step()
		if err := p.check(false); err != nil {
			return fmt.Errorf("after %q: %w", p.log, err)
		}
	}
	for len(p.msgs) > 0 {
		p.deliver(0)
	}
	if err := p.check(true); err != nil {
		return fmt.Errorf("at rest after %q: %w", p.log, err)
	}
	return nil
}

// next is the next choice of n.
func (p *program) next(n int) int {
	if len(p.choices) == 0 {
		return 0
	}
	c := int(p.choices[0])
	p.choices = p.choices[1:]
	return c % n
}

func (p *program) did(format string, args ...any) {
	p.log = append(p.log, fmt.Sprintf(format, args...))
}

func (p *program) step() {
	switch p.next(16) {
	case 0, 1:
		p.begin(p.next(len(p.slots)))
	case 2, 3, 4, 5:
		p.waitFor(p.next(p.ranks), p.some(), 0)
	case 6:
		p.takeBack()
	case 7:
		p.mergeSome()
	case 8, 9:
		p.triggerOne(p.next(p.ranks), p.next(len(p.slots)), p.next(3) == 0)
	case 10:
		p.loseOne(p.next(len(p.slots)))
	default:
		if len(p.msgs) > 0 {
			i := p.next(len(p.msgs))
			p.did("deliver %v", p.msgs[i])
			p.deliver(i)
		}
	}
}

func (p *program) begin(slot int) {
	if s := &p.slots[slot]; !s.alive && !s.Retired() {
		p.did("create %c.%d", 'a'+slot, p.create(slot))
	}
}

// loseOne has an owner forget outcomes, as it does once it has many retired slots.
func (p *program) loseOne(slot int) {
	if p.canLose(slot) {
		p.did("the owner of slot %c forgets", 'a'+slot)
		p.lose(slot)
	}
}

// some is an event that has been created, a new one more often than an old one; false if there is none.
func (p *program) some() simEvent {
	slot := p.next(len(p.slots))
	n := len(p.slots[slot].truth)
	if n > 0 && p.next(2) == 0 {
		return simEvent{slot, uint32(1 + p.next(n))}
	}
	return simEvent{slot, uint32(n)}
}

func (p *program) waitFor(rank int, e simEvent, merge int) {
	if e.gen == 0 {
		return
	}
	j := &job{name: fmt.Sprint("job ", len(p.jobs)), rank: rank, slot: e.slot, gen: e.gen, merge: merge}
	p.did("%s: rank %d waits for %c.%d, merge %d", j.name, rank, 'a'+e.slot, e.gen, merge)
	p.wait(j)
}

func (p *program) takeBack() {
	if len(p.jobs) == 0 {
		return
	}
	j := p.jobs[p.next(len(p.jobs))]
	if j.merge == 0 && j.fired == 0 {
		p.did("withdraw %s: %v", j.name, p.withdraw(j))
	}
}

// open is the live generation of a slot, if nobody has triggered it, or is to.
func (p *program) open(slot int) (e simEvent, ok bool) {
	s := &p.slots[slot]
	gen, alive := s.Alive()
	e = simEvent{slot, gen}
	return e, alive && !p.taken[e] && !p.truth(slot, gen).triggered
}

// mergeSome has up to four events trigger a live one. They are over, or in slots before its own, so that it does not
// wait for itself.
func (p *program) mergeSome() {
	rank := p.next(p.ranks)
	to, ok := p.open(p.next(len(p.slots)))
	var of []simEvent
	for range 1 + p.next(4) {
		if e := p.some(); e.gen > 0 && (e.slot < to.slot || p.truth(e.slot, e.gen).triggered) {
			of = append(of, e)
		}
	}
	if !ok || len(of) == 0 {
		return
	}
	p.taken[to] = true
	p.merges = append(p.merges, merge{rank: rank, slot: to.slot, gen: to.gen, left: len(of)})
	p.did("rank %d merges %v into %v", rank, of, to)
	id := len(p.merges)
	for _, e := range of {
		p.waitFor(rank, e, id)
	}
}

func (p *program) triggerOne(rank, slot int, poison bool) {
	e, ok := p.open(slot)
	if !ok {
		return
	}
	var why *Poison
	if poison {
		why = &Poison{Rank: int32(rank), Errors: uint32(rank % 2), Text: fmt.Sprintf("cause %d.%d", slot, e.gen)}
	}
	p.did("rank %d triggers %c.%d, poison %v", rank, 'a'+slot, e.gen, poison)
	p.trigger(rank, slot, e.gen, why)
}
