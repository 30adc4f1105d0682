package event

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/golci/golci/internal/test/scenario"
)

// TestScenarios replays testdata. EVENT is a slot and a generation, such as a.1. The inputs are
//
//	ranks N a@OWNER ...        a new system with these slots
//	create SLOT                its owner begins the next generation
//	wait RANK EVENT NAME       a waiter with a name; withdraw NAME takes it back
//	merge RANK EVENT EVENT...  the first event triggers once the others have, or one with a poison
//	trigger RANK EVENT         poison RANK EVENT TEXT triggers it with a poison
//	deliver FROM>TO WHAT EVENT a message arrives; deliver all: all, in the order of their sending
//	look RANK EVENT            what the rank knows
//	lose SLOT                  its owner forgets the outcomes of all generations
//	die RANK                   the rank dies; its messages still arrive
//	count EVENT                its messages, and how many there may be
//	rest                       what is wrong when nothing more is to happen
//
// The messages that an input sends, and the waiters that fire, stand below it.
func TestScenarios(t *testing.T) {
	scenario.Run(t, func(t *testing.T) func(string) []string {
		s := &script{t: t}
		return s.line
	})
}

type script struct {
	t *testing.T
	x *system
}

func (s *script) number(text string) int { return scenario.ParseNumber(s.t, text) }

func (s *script) event(text string) (slot int, gen uint32) {
	return int(text[0] - 'a'), uint32(s.number(text[2:]))
}

func (s *script) line(line string) (out []string) {
	f := strings.Fields(line)
	if f[0] == "ranks" {
		var owners []int
		for _, a := range f[2:] {
			owners = append(owners, s.number(a[2:]))
		}
		s.x = newSystem(s.number(f[1]), owners...)
		s.x.encode = true
		return nil
	}
	x := s.x
	msgs := slices.Clone(x.msgs)
	x.log = nil
	out = append(s.do(f), x.log...)
	for _, m := range x.msgs {
		i := slices.IndexFunc(msgs, func(o message) bool { return o.String() == m.String() })
		if i < 0 {
			out = append(out, m.String())
		} else {
			msgs = slices.Delete(msgs, i, i+1)
		}
	}
	if err := x.check(false); err != nil {
		out = append(out, err.Error())
	}
	return out
}

func (s *script) do(f []string) (out []string) {
	x := s.x
	switch f[0] {
	case "create":
		return []string{fmt.Sprintf("%s.%d", f[1], x.create(int(f[1][0]-'a')))}
	case "wait":
		slot, gen := s.event(f[2])
		x.wait(&job{name: f[3], rank: s.number(f[1]), slot: slot, gen: gen})
	case "withdraw":
		i := slices.IndexFunc(x.jobs, func(j *job) bool { return j.name == f[1] })
		return []string{fmt.Sprint(x.withdraw(x.jobs[i]))}
	case "merge":
		slot, gen := s.event(f[2])
		x.merges = append(x.merges, merge{rank: s.number(f[1]), slot: slot, gen: gen, left: len(f) - 3})
		for _, e := range f[3:] {
			slot, gen := s.event(e)
			x.wait(&job{name: "merge of " + e, rank: s.number(f[1]), slot: slot, gen: gen, merge: len(x.merges)})
		}
	case "trigger", "poison":
		slot, gen := s.event(f[2])
		var why *Poison
		if f[0] == "poison" {
			why = &Poison{Rank: int32(s.number(f[1])), Text: strings.Join(f[3:], " ")}
		}
		x.trigger(s.number(f[1]), slot, gen, why)
	default:
		return s.observe(f)
	}
	return nil
}

func (s *script) observe(f []string) (out []string) {
	x := s.x
	switch f[0] {
	case "deliver":
		s.deliver(strings.Join(f[1:], " "))
	case "look":
		slot, gen := s.event(f[2])
		return []string{s.look(s.number(f[1]), slot, gen)}
	case "lose":
		x.lose(int(f[1][0] - 'a'))
	case "die":
		x.die(s.number(f[1]), false)
	case "count":
		t := x.truth(s.event(f[1]))
		return []string{fmt.Sprintf("%d of at most %d", t.messages, 2*bits.OnesCount64(t.parties)-2)}
	case "rest":
		if err := x.check(true); err != nil {
			return []string{err.Error()}
		}
		return []string{fmt.Sprintf("%d messages are under way; nothing is wrong", len(x.msgs))}
	default:
		s.t.Fatalf("%q is no input", f)
	}
	return nil
}

func (s *script) deliver(what string) {
	if what == "all" {
		for len(s.x.msgs) > 0 {
			i := 0
			for !s.x.deliverable(i) {
				i++
			}
			s.x.deliver(i)
		}
		return
	}
	i := slices.IndexFunc(s.x.msgs, func(m message) bool { return m.String() == what })
	if i < 0 || !s.x.deliverable(i) {
		s.t.Fatalf("%q cannot arrive; under way are %v", what, s.x.msgs)
	}
	s.x.deliver(i)
}

func (s *script) look(rank, slot int, gen uint32) string {
	sl := &s.x.slots[slot]
	st, why := sl.at[rank].Look(gen)
	if rank == sl.owner {
		st, why = sl.Slot.Look(gen)
	}
	return outcome([...]string{"pending", "triggered", "unknown"}[st], why)
}

func outcome(what string, why *Poison) string {
	if why == nil {
		return what
	}
	return fmt.Sprintf("%s, poisoned: %s", what, why.Text)
}
