package ring

import (
	"testing"

	"github.com/golci/golci/internal/transport/selection"
)

// TestFlow: a stream is told from question and answer, through windows that are acknowledged once in a while.
func TestFlow(t *testing.T) {
	type step struct {
		answered bool
		stream   bool
	}
	for name, steps := range map[string][]step{
		"question and answer": {{true, false}, {true, false}, {true, false}},
		"stream":              {{true, false}, {false, true}, {false, true}},
		"acknowledged window": {{false, true}, {false, true}, {true, true}, {false, true}, {true, true}, {false, true}},
		"stream, then question and answer": {
			{false, true}, {true, true}, {true, false}, {true, false}, {false, true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var f flow
			place := uint64(0)
			f.picker = selection.New(1)
			for i, s := range steps {
				if s.answered {
					place += Line
				}
				if f.noteRecord(place, uint64(i), 2000); f.stream != s.stream {
					t.Fatalf("record %d: stream %t, want %t", i, f.stream, s.stream)
				}
			}
		})
	}
}

// TestFlowPicks: in a stream the way is used that has taken less time for a byte, also after that has changed.
func TestFlowPicks(t *testing.T) {
	f := flow{picker: selection.New(streamWays)}
	var now uint64
	send := func(n int, byCopy, byStrings uint64) (strings int) {
		for range n {
			f.noteRecord(0, now, 4096)
			if f.strings() {
				strings++
				now += byStrings
			} else {
				now += byCopy
			}
		}
		return strings
	}
	const many = 10000
	for _, c := range []struct{ byCopy, byStrings uint64 }{{300, 100}, {100, 300}, {300, 250}} {
		send(8*many, c.byCopy, c.byStrings)
		if n := send(many, c.byCopy, c.byStrings); (n > many/2) != (c.byStrings < c.byCopy) {
			t.Errorf("%+v: %d of %d by string moves", c, n, many)
		}
	}
}
