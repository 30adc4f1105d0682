package progress

import (
	"testing"

	"github.com/golci/golci/fult"
)

// counting is a source that counts its polls.
type counting struct {
	idle
	polls int
}

func (c *counting) Poll(*fult.Worker) int {
	c.polls++
	return 0
}

// TestPollInTurn: one call in sixteen polls, and none where somebody serves.
func TestPollInTurn(t *testing.T) {
	for _, dedicated := range []bool{false, true} {
		src := new(counting)
		e := New(src, nil, Config{Dedicated: dedicated})
		for i := range 10 * turnEvery {
			e.PollInTurn()
			want := (i + 1) / turnEvery
			if dedicated {
				want = 0
			}
			if src.polls != want {
				t.Fatalf("dedicated %v: %d polls after %d calls, want %d", dedicated, src.polls, i+1, want)
			}
		}
	}
}
