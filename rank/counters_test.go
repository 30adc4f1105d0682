package rank

import (
	"testing"

	"github.com/golci/golci/internal/observe/tool"
)

// TestCountersAfterTheEnd: they are those of the end, whatever the rank used is gone.
func TestCountersAfterTheEnd(t *testing.T) {
	var last *Rank
	must(t, 2, Config{}, func(r *Rank) error {
		v := r.Counters()
		if v[tool.Workers] == 0 || v[tool.CreditsLent] == 0 || v[tool.CreditsLent] != v[tool.CreditsBorrowed] {
			t.Errorf("rank %d: %v", r.Rank(), v)
		}
		if r.Rank() == 0 {
			last = r
		}
		return nil
	})
	if v := last.Counters(); v[tool.Workers] == 0 || v[tool.CreditsLent] == 0 || v[tool.ThreadsAlive] != 0 {
		t.Errorf("after the end: %v", v)
	}
}
