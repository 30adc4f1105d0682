package realm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/golci/golci/am"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// Deadlock has events that can never trigger: what is to trigger each waits for the next one, and for the last one it
// waits for the first.
type Deadlock []Event

// String names the events.
func (d Deadlock) String() string {
	if len(d) == 0 {
		return "no deadlock"
	}
	var b strings.Builder
	for _, e := range d {
		b.WriteString(e.String() + " waits for ")
	}
	return b.String() + d[0].String()
}

// Deadlocks asks all ranks what waits there, and returns the events that wait for each other in a circle. It blocks
// until the ranks have answered; those that die do not count. A rank tells of so many operations as fit one message;
// whole is false if that left some out. The dump of a rank tells more about each of its operations. A nil ctx counts
// as one that does not end. Errors: the cause of ctx, ErrClosed.
func (rt *Runtime) Deadlocks(ctx context.Context) (found []Deadlock, whole bool, err error) {
	if err := rt.ev.EndedError(); err != nil {
		return nil, false, err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ops, whole, err := rt.survey(ctx, 0)
	if err != nil {
		return nil, false, err
	}
	for _, c := range graphOf(ops).cycles() {
		d := make(Deadlock, len(c))
		for i, e := range c {
			d[i] = Event(e)
		}
		found = append(found, d)
	}
	return found, whole, nil
}

// survey is what waits on this rank, and on the others from first on. whole is false if some of that is left out. If
// ctx ends, it returns what it has been told by then, and an error.
func (rt *Runtime) survey(ctx context.Context, first int) (ops []blocked, whole bool, err error) {
	ops, whole = rt.blockedHere(), true
	for i := range ops {
		ops[i].rank = rt.ev.Self
	}
	var asked []event.ID
	defer func() { rt.surveys.dropAsked(asked) }()
	for r := first; r < rt.ev.Size; r++ {
		if r != rt.ev.Self && !rt.ev.Endpoint.Gone(r) {
			told := rt.ev.NewEventBy(r)
			asked = append(asked, told)
			rt.surveys.askAbout(told)
			rt.inquire(r, events.HSurvey, told)
		}
	}
	for _, told := range asked {
		if failed := rt.waitIn(ctx, inDeadlocks, Event(told)); ctx.Err() != nil || errors.Is(failed, ErrClosed) {
			err = failed // else the rank has answered, or has died
		}
		a := rt.surveys.getAnswer(told)
		ops = append(ops, a.ops...)
		whole = whole && !a.cut
	}
	return ops, whole, err
}

// circles describes circles of operations that wait for each other on several ranks of which this is the first, so that
// one rank tells of each. The ranks before it are not asked.
func (rt *Runtime) circles(ctx context.Context) (lines []string) {
	if rt.ev.EndedError() != nil || !slices.ContainsFunc(rt.blockedHere(), func(b blocked) bool { return b.to != 0 }) {
		return nil
	}
	ops, _, _ := rt.survey(ctx, rt.ev.Self+1) // what is missing cannot be told
	g := graphOf(ops)
	for _, c := range g.cycles() {
		least, most := rt.ev.Size, 0
		for _, e := range c {
			least, most = min(least, g.who[e].rank), max(most, g.who[e].rank)
		}
		if least == rt.ev.Self && most > rt.ev.Self {
			lines = append(lines, g.cycleLine(c))
		}
	}
	return lines
}

// surveys are answers of ranks that were asked what waits there, by the event that tells of the answer.
type surveys struct {
	mu sync.Mutex // guards of
	of map[event.ID]answer
}

type answer struct {
	ops []blocked
	cut bool // there are more
}

func (s *surveys) askAbout(told event.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = make(map[event.ID]answer)
	}
	s.of[told] = answer{}
}

// putAnswer keeps the answer to a question, if somebody still waits for it.
func (s *surveys) putAnswer(told event.ID, a answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.of[told]; ok {
		s.of[told] = a
	}
}

// getAnswer returns what the survey that event told ends has found; the zero answer of one that is not known. It does
// not wait.
func (s *surveys) getAnswer(told event.ID) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of[told]
}

// dropAsked forgets questions.
func (s *surveys) dropAsked(asked []event.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, told := range asked {
		delete(s.of, told)
	}
}

// onSurvey: another rank asks what waits here.
func (rt *Runtime) onSurvey(t *am.Token, args []uint64, _ []byte) {
	if rt.ignoreQuestions.Load() {
		return
	}
	var b []byte
	cut := uint64(0)
	for _, x := range rt.blockedHere() {
		if x.to == 0 {
			continue
		}
		if len(b)+16 > rt.ev.Endpoint.MaxMedium() {
			cut = 1
			break
		}
		b = binary.LittleEndian.AppendUint64(b, uint64(x.to))
		b = binary.LittleEndian.AppendUint64(b, uint64(x.of))
	}
	rt.ev.PostMessage(t.Source(), events.HWaits, b, args[0], cut)
}

// onWaits: a rank tells what waits there.
func (rt *Runtime) onWaits(t *am.Token, args []uint64, payload []byte) {
	told := event.ID(args[0])
	a := answer{cut: args[1] != 0}
	for b := payload; len(b) >= 16; b = b[16:] {
		to, of := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		what := fmt.Sprintf("an operation on rank %d, which is to trigger %v,", t.Source(), event.ID(to))
		a.ops = append(a.ops, blocked{what: what, to: event.ID(to), of: event.ID(of), rank: t.Source()})
	}
	if len(payload)%16 != 0 || !rt.ev.Owns(told) {
		rt.ev.Malformed(t, "what waits, for", told)
		return
	}
	rt.surveys.putAnswer(told, a)
	k := rt.ev.BeginCascade(t.Worker())
	k.Trigger(told, nil)
	k.EndCascade(events.PollBudget)
}
