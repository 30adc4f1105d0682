package agree

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/golci/golci/internal/test/scenario"
)

// TestScenarios replays testdata. Lines are
//
//	ranks 4                  a communicator
//	call 1 flag 3 acked 2    a call with a flag, and the failures acknowledged
//	take 0>1 vote 0          a message arrives; all: all that are on their way, in turn, until there are none
//	die 0, lose ..., tell 1 of 0
//
// Below them are the messages sent and the decisions.
func TestScenarios(t *testing.T) {
	scenario.Run(t, func(t *testing.T) func(string) []string {
		w := new(world)
		return func(line string) []string {
			out, err := w.line(line)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			return out
		}
	})
}

func (w *world) line(line string) (out []string, err error) {
	words := strings.Fields(line)
	switch {
	case words[0] == "ranks":
		p := plan{calls: 99, deaths: 99}
		_, err = fmt.Sscan(words[1], &p.ranks)
		for r := range p.ranks {
			p.dies = append(p.dies, r)
		}
		*w = *newWorld(p)
		return nil, err
	case words[0] == "call":
		return w.call(words)
	case line == "take all":
		for len(w.wires) > 0 {
			more, err := w.step("take " + w.wires[0].String())
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
		return out, nil
	}
	return w.step(line)
}

func (w *world) call(words []string) ([]string, error) {
	var rank, acked int
	var flag uint64
	set := NewSet(w.plan.ranks)
	if _, err := fmt.Sscan(strings.Join(words[1:4], " "), &rank, new(string), &flag); err != nil {
		return nil, err
	}
	for _, word := range words[4:] {
		if word == "acked" {
			continue
		}
		if _, err := fmt.Sscan(word, &acked); err != nil {
			return nil, err
		}
		set.Add(acked)
	}
	w.calls[rank]++
	actions, err := w.ranks[rank].Call(flag, set)
	if err != nil {
		return []string{err.Error()}, nil
	}
	w.act(rank, actions)
	return told(rank, actions), nil
}

// step does the step with that name.
func (w *world) step(name string) ([]string, error) {
	n := slices.Index(w.Steps(), name)
	if n < 0 {
		return nil, fmt.Errorf("possible are %q", w.Steps())
	}
	s := w.possible()[n]
	before := append([]wire(nil), w.wires...)
	decided := len(w.decided[s.rank])
	w.do(s)
	var actions []Action
	for _, m := range w.wires {
		if i := slices.IndexFunc(before, func(b wire) bool { return b.key == m.key }); i >= 0 {
			before = slices.Delete(before, i, i+1)
		} else {
			actions = append(actions, m.Action)
		}
	}
	for _, v := range w.decided[s.rank][decided:] {
		actions = append(actions, Action{Caller, Message{Value: v}})
	}
	return told(s.rank, actions), w.fault
}

func told(rank int, actions []Action) (out []string) {
	for _, a := range actions {
		m := a.Message
		value := fmt.Sprintf("flag %d failed %v unacknowledged %v", m.Value.Flag,
			slices.Collect(m.Value.Failed.All()), slices.Collect(m.Value.Unacked().All()))
		switch {
		case a.To == Caller:
			out = append(out, fmt.Sprintf("%d decides %s", rank, value))
		case m.Kind == Ack:
			out = append(out, fmt.Sprintf("%d>%d ack", rank, a.To))
		case m.Kind == Vote && m.Stage == Decided:
			out = append(out, fmt.Sprintf("%d>%d vote, decided: %s", rank, a.To, value))
		case m.Kind == Vote && m.Stage == Locked:
			out = append(out, fmt.Sprintf("%d>%d vote, locked: %s", rank, a.To, value))
		default:
			out = append(out, fmt.Sprintf("%d>%d %v: %s", rank, a.To, m.Kind, value))
		}
	}
	return out
}
