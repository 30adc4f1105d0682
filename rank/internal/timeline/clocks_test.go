package timeline

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/transport/credit"
	"github.com/golci/golci/internal/transport/local"
)

// TestClocks: what a rank finds out of the clock of rank 0 is true, as far as it says itself.
func TestClocks(t *testing.T) {
	const size = 2
	dir := t.TempDir()
	values, err := settings.Parse(func(name string) (string, bool) {
		if name == settings.Trace.Env() {
			return filepath.Join(dir, "%r.part"), true
		}
		return "", false
	})
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := boot.Local(size)
	if err != nil {
		t.Fatal(err)
	}
	wires, err := local.New(size, conduit.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var lines [size]*Timeline
	var ends [size]*am.Endpoint
	for i, job := range jobs {
		sched, err := fult.New(fult.Config{})
		if err != nil {
			t.Fatal(err)
		}
		l := Start(job, values, sched, "trace")
		ep, err := am.New(l.RecordOver(wires[i]), am.Config{Credits: credit.Terms(size, 1024), Scheduler: sched})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.FollowEndpoint(ep); err != nil {
			t.Fatal(err)
		}
		lines[i], ends[i] = l, ep
		defer sched.Close()
		defer ep.Close()
	}
	c := &lines[1].clocks
	for c.followClock(); c.round.Load(); {
		for _, ep := range ends {
			ep.Poll()
		}
	}
	for _, l := range lines {
		l.FinishPart()
	}
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
