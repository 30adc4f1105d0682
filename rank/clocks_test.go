package rank

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/golci/golci/internal/observe/settings"
)

// TestClocks: what a rank finds out of the clock of rank 0 is true, as far as it says itself.
func TestClocks(t *testing.T) {
	dir := t.TempDir()
	cfg := with(settings.Trace.Env(), filepath.Join(dir, "%r.part"))
	must(t, 2, cfg, func(r *Rank) error {
		if r.Rank() == 0 {
			return nil
		}
		c := &r.timeline.clocks
		before := time.Now()
		c.followClock()
		return r.BlockUntil(func() bool { return !c.round.Load() || time.Since(before) > time.Minute })
	})
	text, err := os.ReadFile(filepath.Join(dir, "1.part"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`\{[^{}]*"sync":true[^{}]*\}`).Find(text)
	var note struct{ Clock, Theirs, Within int64 }
	if err := json.Unmarshal(found, &note); err != nil {
		t.Fatalf("%q: %v", found, err)
	}
	// Both ranks have the clock of this machine.
	if off := note.Theirs - note.Clock; note.Within <= 0 || max(off, -off) > note.Within/2+1 {
		t.Errorf("%s", found)
	}
}
