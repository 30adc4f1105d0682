package match

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/golci/golci/comm/internal/opstate"
	"github.com/golci/golci/internal/test/scenario"
)

// TestScenarios replays testdata: one message in the world of the explorer, in an order that the file gives. The inputs
// are
//
//	message WAY [big] [invites]  a new world. The receiver is to ask for the bytes in that way: none, chunks, get, half
//	                             or put. big: the message needs an envelope; invites: its receive tells of itself first
//	deliver WHAT                 what is under way arrives
//	rest                         nothing more is to happen: what still can, and what is wrong then
//
// and the names of world.choices. What an input has changed stands below it.
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

var ways = map[string]opstate.Input{
	"none": taken, "chunks": AskChunks, "get": AskGet, "half": AskHalf, "put": AskPut,
}

func (s *script) line(line string) []string {
	f := strings.Fields(line)
	switch f[0] {
	case "message":
		way, ok := ways[f[1]]
		if !ok {
			s.t.Fatalf("%q is no way", f[1])
		}
		s.w = newWorld(kind{
			way: way, big: slices.Contains(f, "big"), invites: slices.Contains(f, "invites"),
			cancels: true, deaths: true, machine: Protocol,
		})
		return nil
	case "rest":
		return s.rest()
	case "deliver":
		i := slices.IndexFunc(s.w.wires, func(x wire) bool { return x.what == f[1] })
		line = fmt.Sprint("deliver ", i)
	}
	if !slices.Contains(s.w.choices(), line) {
		return []string{"impossible"}
	}
	was := s.facts()
	s.w.do(line)
	return slices.DeleteFunc(s.facts(), func(fact string) bool { return slices.Contains(was, fact) })
}

// facts are what a file tells of a world when it has changed.
func (s *script) facts() []string {
	w := s.w
	all := []string{
		fmt.Sprintf("send is %s, with %s", Protocol.StateName(w.s.State()), parties(w.s.Hands())),
		fmt.Sprintf("receive is %s, with %s", Protocol.StateName(w.r.State()), parties(w.r.Hands())),
	}
	for _, x := range w.wires {
		all = append(all, fmt.Sprintf("%s is under way to %c", x.what, x.to))
	}
	for who, name := range map[byte]string{'s': "send", 'r': "receive"} {
		if w.cancelled[who] {
			all = append(all, name+" is cancelled")
		}
		if w.ended[who] > 0 {
			all = append(all, name+" is complete")
		}
	}
	slices.Sort(all[2+len(w.wires):])
	return append(all, w.faults...)
}

func parties(h opstate.Holders) string {
	var names []string
	for _, p := range []struct {
		opstate.Holders
		name string
	}{{opstate.Caller, "caller"}, {opstate.Queue, "queue"}, {opstate.Peer, "peer"}, {opstate.Transfer, "transfer"}} {
		if h&p.Holders != 0 {
			names = append(names, p.name)
		}
	}
	if names == nil {
		return "nobody"
	}
	return strings.Join(names, ", ")
}

func (s *script) rest() (out []string) {
	next := s.w.choices()
	for i, name := range next {
		if n, ok := strings.CutPrefix(name, "deliver "); ok {
			k, _ := strconv.Atoi(n)
			next[i] = "deliver " + s.w.wires[k].what
		}
	}
	if len(next) > 0 {
		out = []string{"can happen: " + strings.Join(next, ", ")}
	}
	known := len(s.w.faults)
	s.w.atRest()
	out = append(out, s.w.faults[known:]...)
	if s.w.faults == nil {
		out = append(out, "nothing is wrong")
	}
	return out
}
