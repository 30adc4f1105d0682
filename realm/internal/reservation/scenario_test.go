package reservation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/golci/golci/internal/test/scenario"
)

// TestScenarios replays testdata. The inputs are
//
//	ranks N [home H] [turns K] [carry C]   a new world
//	acquire R [mode M]                     a user of rank R; its number counts from 0
//	try R [mode M]
//	release R.N [on R]                     the hold of user N of rank R, by a call on a rank
//	wrong R                                a release on rank R that has no hold
//	destroy R
//	die R                                  rank R dies
//	tell R of D                            rank R is told that D has died
//	deliver FROM to TO KIND                the oldest such message arrives
//	lose FROM to TO KIND                   a message of a rank that has died
//	rest                                   no message is under way: what is wrong then
//
// Grants, refusals and messages stand below. A message of which several are equal is delivered in any order.
func TestScenarios(t *testing.T) {
	scenario.Run(t, func(t *testing.T) func(string) []string {
		s := &script{t: t}
		return s.line
	})
}

type script struct {
	t *testing.T
	w *world
}

func (s *script) line(line string) []string {
	f := strings.Fields(line)
	if f[0] == "ranks" {
		s.start(f)
		return nil
	}
	w := s.w
	w.fired, w.sent, w.refused, w.errs = nil, nil, nil, 0
	held := slices.Clone(w.holds)
	out := s.act(f)
	for _, h := range w.holds {
		if !slices.ContainsFunc(held, func(o hold) bool { return o.user == h.user }) {
			out = append(out, fmt.Sprintf("%v holds, payload %d", h.user, h.saw))
		}
	}
	for _, u := range w.refused {
		out = append(out, u+" is refused")
	}
	for _, m := range w.sent {
		out = append(out, fmt.Sprintf("to %d: %s", m.To, describe(m)))
	}
	if w.errs > 0 {
		out = append(out, "the release was wrong")
	}
	if w.fault != nil {
		out = append(out, "FAULT: "+w.fault.Error())
	}
	return out
}

func (s *script) start(f []string) {
	n := s.number(f[1])
	p := plan{acquires: make([][]Mode, n), carry: 4, destroys: -1}
	for i := 2; i+1 < len(f); i += 2 {
		v := s.number(f[i+1])
		switch f[i] {
		case "home":
			p.home = v
		case "turns":
			p.turns = v
		case "carry":
			p.carry = v
		default:
			s.t.Fatalf("no setting %q", f[i])
		}
	}
	s.w = newWorld(p)
}

func (s *script) number(text string) int { return scenario.ParseNumber(s.t, text) }

// mode is what follows the rank.
func (s *script) mode(f []string) Mode {
	if len(f) < 4 {
		return Exclusive
	}
	return Mode(s.number(f[3]))
}

func (s *script) act(f []string) []string {
	w := s.w
	switch f[0] {
	case "acquire":
		w.acquire(s.number(f[1]), s.mode(f))
	case "try":
		return []string{fmt.Sprint(w.try(s.number(f[1]), s.mode(f)))}
	case "release":
		s.release(f)
	case "wrong":
		w.input(s.number(f[1]), func(l *Lock, out *Out) {
			if err := l.Release(out); err != nil {
				out.Err = err
			}
		})
	case "destroy":
		w.input(s.number(f[1]), func(l *Lock, out *Out) { l.Destroy(out) })
	case "die":
		w.die(s.number(f[1]))
	case "tell":
		w.tell(s.number(f[1]), s.number(f[3]))
	case "deliver":
		w.deliver(s.find(f))
	case "lose":
		w.lose(s.find(f))
	case "rest":
		return s.rest()
	default:
		s.t.Fatalf("no input %q", f[0])
	}
	return nil
}

func (w *world) try(rank int, m Mode) bool {
	took := w.locks[rank].Try(m)
	if took {
		w.next[rank]++
		w.granted(user{rank, w.next[rank] - 1, m})
	}
	return took
}

func (s *script) release(f []string) {
	i := slices.IndexFunc(s.w.holds, func(h hold) bool { return h.String() == f[1] })
	if i < 0 {
		s.t.Fatalf("%s holds nothing", f[1])
	}
	at := s.w.holds[i].rank
	if len(f) > 3 {
		at = s.number(f[3])
	}
	s.w.release(i, at)
}

// find is the first message from f[1] to f[3] of the kind f[4].
func (s *script) find(f []string) int {
	i := slices.IndexFunc(s.w.wires, func(x wire) bool {
		return x.from == s.number(f[1]) && int(x.m.To) == s.number(f[3]) && kindNames[x.m.Kind] == f[4]
	})
	if i < 0 {
		s.t.Fatalf("no message for %q among %v", strings.Join(f, " "), s.w.Steps())
	}
	return i
}

func (s *script) rest() (out []string) {
	for _, x := range s.w.wires {
		out = append(out, fmt.Sprintf("%d to %d: %s", x.from, x.m.To, describe(x.m)))
	}
	if out == nil {
		if err := s.w.Check(true); err != nil {
			out = append(out, err.Error())
		}
	}
	return out
}
