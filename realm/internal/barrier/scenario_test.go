package barrier

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/golci/golci/internal/test/scenario"
	"github.com/golci/golci/realm/internal/event"
)

// TestScenarios replays testdata. The inputs are
//
//	job RANKS COUNT [PHASE]             a barrier that rank 0 makes, maybe one that has come to a phase
//	arrive RANK PHASE COUNT [value N] [poison TEXT] [with NAME]
//	alter RANK PHASE DELTA as NAME [with NAME]
//	wait RANK PHASE                     for the result, too
//	waitid RANK GENERATION              for the phase that an ID means there
//	result RANK PHASE
//	flush RANK, move RANK TO, fault RANK TEXT
//	deliver KIND FROM TO [PHASE]        the oldest such message; deliver all: everything, the oldest message first
//	die RANK, tell RANK DEAD
//
// Handles have names; an arrival or alteration with a name uses that handle, whose phase is replaced. Below an input
// stand errors, waiters that fire and messages sent.
func TestScenarios(t *testing.T) {
	scenario.Run(t, func(t *testing.T) func(string) []string {
		s := &script{t: t, handles: make(map[string]Handle)}
		return s.line
	})
}

type script struct {
	t       *testing.T
	j       *job
	handles map[string]Handle
	out     []string
}

func (s *script) line(line string) []string {
	f := strings.Fields(line)
	s.out = nil
	if f[0] == "job" {
		s.j = newJob(s.t, s.num(f[1]), int64(s.num(f[2])))
		if len(f) > 3 {
			s.j.begin(uint64(s.num(f[3])))
		}
		return nil
	}
	sent := len(s.j.wires)
	if f[0] == "deliver" && f[1] != "all" {
		sent--
	}
	s.do(f)
	for at, how := range s.j.fired {
		s.out = append(s.out, fmt.Sprintf("rank %d: phase %d fires: %s", at.rank, at.phase, how))
	}
	clear(s.j.fired)
	slices.Sort(s.out)
	for _, w := range s.j.wires[min(max(sent, 0), len(s.j.wires)):] {
		s.out = append(s.out, w.text)
	}
	return append(s.out, s.j.errs...)
}

func (s *script) num(text string) int { return scenario.ParseNumber(s.t, text) }

// option is the word after a name; empty if the name is not there.
func option(f []string, name string) string {
	if i := slices.Index(f, name); i >= 0 {
		return f[i+1]
	}
	return ""
}

func (s *script) do(f []string) {
	r := 0
	if f[0] != "deliver" {
		r = s.num(f[1])
	}
	switch f[0] {
	case "arrive", "alter":
		s.call(f, r)
	case "wait":
		s.j.wait(r, uint64(s.num(f[2])))
	case "waitid":
		s.j.wait(r, s.j.bs[r].Read(uint32(s.num(f[2]))))
	case "result":
		v, err := s.j.bs[r].Result(uint64(s.num(f[2])))
		s.say(err)
		if err == nil {
			s.out = append(s.out, fmt.Sprint("result ", value(v)))
		}
	case "flush":
		s.j.flush(r)
	case "move":
		s.j.move(r, s.num(f[2]))
	case "fault":
		s.j.act(r, func(b *Barrier, o *Out) { b.Fault(&event.Poison{Rank: int32(r), Text: f[2]}, o) })
	case "destroy":
		s.j.act(r, func(b *Barrier, o *Out) { b.Destroy(o) })
	case "expect":
		s.j.act(r, func(b *Barrier, o *Out) { b.Expect(int32(s.num(f[2])), o) })
	case "deliver":
		s.deliver(f)
	case "die":
		s.j.die(r)
	case "tell":
		s.j.tell(r, s.num(f[2]))
	default:
		s.t.Fatalf("unknown input %q", f)
	}
}

func (s *script) call(f []string, r int) {
	h := s.handles[option(f, "with")]
	h.Phase = uint64(s.num(f[2]))
	n := int64(s.num(f[3]))
	var err error
	if f[0] == "alter" {
		s.handles[option(f, "as")], err = s.j.alter(r, h, n)
		s.say(err)
		return
	}
	var v []byte
	var p *event.Poison
	if x := option(f, "value"); x != "" {
		v = number(uint64(s.num(x)))
	}
	if x := option(f, "poison"); x != "" {
		p = &event.Poison{Rank: int32(r), Text: x}
	}
	s.say(s.j.arrive(r, h, n, v, p))
}

func (s *script) say(err error) {
	if err != nil {
		s.out = append(s.out, "error: "+err.Error())
	}
}

func (s *script) deliver(f []string) {
	if f[1] == "all" {
		for len(s.j.wires) > 0 {
			s.j.deliver(0)
		}
		return
	}
	i := slices.IndexFunc(s.j.wires, func(w wire) bool {
		return kindNames[w.m.Kind] == f[1] && int(w.from) == s.num(f[2]) && int(w.m.To) == s.num(f[3]) &&
			(len(f) < 5 || int(w.m.Phase) == s.num(f[4]))
	})
	if i < 0 {
		s.t.Fatalf("there is no message for %q", f)
	}
	s.j.deliver(i)
}
