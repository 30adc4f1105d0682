package match

import (
	"slices"
	"testing"

	"github.com/golci/golci/comm/internal/opstate"
)

// whims are what happens because a caller wants it, or a rank dies. All else happens by itself.
var whims = []string{"withdraw", "recall", "leave", "revoke", "uninvite", "close", "die s", "die r"}

// FuzzOrders has the things happen to one message that the bytes choose: the first chooses the kind of message, each of
// the others one of what can happen then. After them all goes on by itself, to an end without a fault.
func FuzzOrders(f *testing.F) {
	all := kinds()
	for k := range all {
		f.Add([]byte{byte(k), 0, 1, 2, 3, 4, 5, 6, 7})
		f.Add([]byte{byte(k), 7, 5, 3, 1, 0, 0, 0, 2, 2, 9})
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		if len(choices) == 0 {
			return
		}
		w := newWorld(all[int(choices[0])%len(all)])
		var way []string
		do := func(names []string, choice byte) {
			name := names[int(choice)%len(names)]
			way = append(way, name)
			w.do(name)
			w.countEnds()
			if w.faults != nil {
				t.Fatalf("%+v: after %q: %q", w.kind, way, w.faults)
			}
		}
		for _, c := range choices[1:] {
			names := w.choices()
			if len(names) == 0 {
				break
			}
			do(names, c)
		}
		for range 100 { // an end is near from anywhere
			names := slices.DeleteFunc(w.choices(), func(name string) bool { return slices.Contains(whims, name) })
			if len(names) == 0 {
				break
			}
			do(names, byte(len(way)))
		}
		if w.atRest(); w.faults != nil {
			t.Fatalf("%+v: at rest after %q: %q", w.kind, way, w.faults)
		}
	})
}

// TestWayOut: from whatever inputs can lead to, some inputs lead to an operation that only its caller has a hand in.
func TestWayOut(t *testing.T) {
	type at struct {
		s opstate.State
		h opstate.Holders
	}
	const out = opstate.Caller
	begins := []at{
		{SendQueued, out | opstate.Queue | opstate.Peer},
		{RecvPosted, out | opstate.Queue},
		{RecvInvited, out | opstate.Peer},
	}
	before := map[at][]at{} // what a step leads from
	seen := map[at]bool{}
	for list := begins; len(list) > 0; list = list[1:] {
		if from := list[0]; !seen[from] {
			seen[from] = true
			for in := range inputNames {
				var w opstate.Word
				w.Begin(from.s, from.h)
				if _, _, ok := w.Step(Protocol, opstate.Input(in)); ok {
					to := at{w.State(), w.Hands()}
					before[to], list = append(before[to], from), append(list, to)
				}
			}
		}
	}
	var ends []at
	for x := range seen {
		if x.h == out {
			ends = append(ends, x)
		}
	}
	for list := ends; len(list) > 0; list = list[1:] {
		if seen[list[0]] {
			delete(seen, list[0])
			list = append(list, before[list[0]]...)
		}
	}
	for x := range seen {
		t.Errorf("no way out of %s with %s", Protocol.StateName(x.s), parties(x.h))
	}
}
