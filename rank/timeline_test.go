package rank

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/observe/trace"
	"github.com/golci/golci/internal/test/tracetest"
)

// arrowEnd is an event of a timeline.
type arrowEnd struct {
	Phase string  `json:"ph"`
	Rank  int     `json:"pid"`
	Track int     `json:"tid"`
	Time  float64 `json:"ts"`
	Name  string  `json:"name"`
	ID    string  `json:"id"`
	Args  struct{ Peer, Bytes, Value int }
}

// eventsOf are the events of the timeline made of files. With apart these are timelines that ranks have made by
// themselves.
func eventsOf(t *testing.T, apart bool, files ...string) (events []arrowEnd) {
	t.Helper()
	var b bytes.Buffer
	all, err := trace.Write(&b, files)
	if err != nil {
		t.Fatal(err)
	}
	if texts := trace.Lacks(all); len(texts) > 0 {
		t.Errorf("%q", texts)
	}
	var timeline struct {
		Events []arrowEnd `json:"traceEvents"`
	}
	if apart {
		tracetest.ValidApart(t, b.Bytes())
	} else {
		tracetest.Valid(t, b.Bytes())
	}
	if err := json.Unmarshal(b.Bytes(), &timeline); err != nil {
		t.Fatal(err)
	}
	return timeline.Events
}

// arrows are both ends of those that have two, by their beginnings.
func arrows(t *testing.T, events []arrowEnd) map[arrowEnd]arrowEnd {
	t.Helper()
	from, out := map[string]arrowEnd{}, map[arrowEnd]arrowEnd{}
	for _, e := range events {
		if e.Phase == "s" {
			if other, ok := from[e.ID]; ok {
				t.Errorf("two arrows %s: %+v and %+v", e.ID, e, other)
			}
			from[e.ID] = e
		}
	}
	for _, e := range events {
		if e.Phase == "f" {
			s, ok := from[e.ID]
			if !ok {
				t.Fatalf("the arrow of %+v has no beginning", e)
			}
			out[s] = e
		}
	}
	return out
}

// ringOf has each rank send the next one n messages in threads and in a goroutine, and wait for those of the one
// before.
func ringOf(t *testing.T, ranks, n int, cfg Config) {
	t.Helper()
	const take = 7
	came := make([]atomic.Int64, ranks)
	cfg.Attach = func(r *Rank) error {
		return r.Endpoint().Register(take, am.Spec{
			Name: "take", MaxReply: am.NoReply,
			Run: func(*am.Token, []uint64, []byte) { came[r.Rank()].Add(1) },
		})
	}
	must(t, ranks, cfg, func(r *Rank) error {
		next := (r.Rank() + 1) % ranks
		send := func() error { return r.Endpoint().RequestMedium(next, take, make([]byte, 40), 1) }
		for range n {
			if _, err := r.Go(func() {
				if err := send(); err != nil {
					panic(err)
				}
			}); err != nil {
				return err
			}
		}
		for range n {
			if err := send(); err != nil {
				return err
			}
		}
		return r.BlockUntil(func() bool { return came[r.Rank()].Load() == int64(2*n) })
	})
}

// TestTimeline: each message is an arrow from its sender to the handler. This holds in the timelines of the ranks and
// in that of all, over conduits that keep the order of messages and those that do not.
func TestTimeline(t *testing.T) {
	for _, over := range []string{"local", "udp"} {
		for _, ending := range []string{"", ".part"} {
			t.Run(over+ending, func(t *testing.T) {
				const ranks, n = 3, 200
				dir := t.TempDir()
				ringOf(t, ranks, n, with(settings.Conduit.Env(), over,
					settings.Trace.Env(), filepath.Join(dir, "time.%r.json"+ending)))
				var files []string
				for r := range ranks {
					files = append(files, filepath.Join(dir, fmt.Sprintf("time.%d.json%s", r, ending)))
				}
				if left, err := os.ReadDir(dir); err != nil || len(left) != ranks {
					t.Errorf("files %v, %v", left, err)
				}
				// Ranks of one machine have one clock, if their parts are merged.
				checkRing(t, ranks, 2*n, eventsOf(t, ending == "", files...))
			})
		}
	}
}

// checkRing looks for n messages between each rank and the next.
func checkRing(t *testing.T, ranks, n int, events []arrowEnd) {
	t.Helper()
	slices := map[string]int{}
	for _, e := range events {
		if e.Phase == "X" {
			slices[fmt.Sprintf("%d %s %d", e.Rank, e.Name, e.Args.Peer)]++
		}
	}
	pairs := map[[2]int]int{}
	for s, f := range arrows(t, events) {
		pairs[[2]int{s.Rank, f.Rank}]++
	}
	for r := range ranks {
		next := (r + 1) % ranks
		if got := slices[fmt.Sprintf("%d send take %d", r, next)]; got != n {
			t.Errorf("rank %d sent %d, want %d", r, got, n)
		}
		if got := slices[fmt.Sprintf("%d take %d", next, r)]; got != n {
			t.Errorf("rank %d handled %d, want %d", next, got, n)
		}
		if got := pairs[[2]int{r, next}]; got < n {
			t.Errorf("%d arrows from rank %d to rank %d, want %d", got, r, next, n)
		}
	}
}

// TestTimelineCounters: what was sent and has come is shown, and what a layer counts, each value once, and the final
// one.
func TestTimelineCounters(t *testing.T) {
	dir := t.TempDir()
	const take, size = 7, 40
	var came atomic.Int64
	cfg := with(settings.Trace.Env(), filepath.Join(dir, "%r.part"))
	var shown, late atomic.Int64
	cfg.Attach = func(r *Rank) error {
		if r.Rank() == 0 {
			looks := int64(0)
			r.Count("looks", func() int64 {
				looks++
				shown.Store(looks / 4)
				return looks / 4
			})
			r.Count("late", late.Load)
		}
		return r.Endpoint().Register(take, am.Spec{
			Name: "take", MaxReply: am.NoReply,
			Run: func(*am.Token, []uint64, []byte) { came.Add(1) },
		})
	}
	must(t, 2, cfg, func(r *Rank) error {
		if r.Rank() == 0 {
			if err := r.Endpoint().RequestMedium(1, take, make([]byte, size), 1); err != nil {
				return err
			}
		}
		if r.Rank() == 1 {
			return r.BlockUntil(func() bool { return came.Load() == 1 })
		}
		for came.Load() == 0 || shown.Load() < 3 {
			time.Sleep(time.Millisecond)
		}
		late.Store(1)
		return nil
	})
	last := map[string]int{}
	for _, e := range eventsOf(t, false, filepath.Join(dir, "0.part"), filepath.Join(dir, "1.part")) {
		if e.Phase != "C" {
			continue
		}
		key := fmt.Sprint(e.Rank, " ", e.Name)
		if old, ok := last[key]; ok && e.Args.Value <= old {
			t.Errorf("%s: %d after %d", key, e.Args.Value, old)
		}
		last[key] = e.Args.Value
	}
	if last["0 looks"] < 2 || last["0 late"] != 1 || last["0 bytes sent"] < size || last["1 bytes received"] < size {
		t.Errorf("%v", last)
	}
}

// TestTimelineOff: a rank without a timeline has no conduit between, and no recorder.
func TestTimelineOff(t *testing.T) {
	must(t, 1, with(settings.Trace.Env(), "off"), func(r *Rank) error {
		if r.Endpoint().Conduit() != r.Conduit() || r.Trace() != nil || r.Trace().Track("x") != nil {
			t.Error("the rank records")
		}
		return nil
	})
}

// TestTimelineNowhere: a file that cannot be made does not keep the rank from its work.
func TestTimelineNowhere(t *testing.T) {
	cfg := with(settings.Trace.Env(), filepath.Join(t.TempDir(), "none", "time.json"))
	ringOf(t, 2, 10, cfg)
}

// TestTimelineFull: the limit holds, and what is dropped is told.
func TestTimelineFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "time.json")
	ringOf(t, 1, 12000, with(settings.Trace.Env(), path+",limit=1M"))
	var b bytes.Buffer
	all, err := trace.Write(&b, []string{path})
	if err != nil || len(all) != 1 || all[0].Dropped == 0 || all[0].Records == 0 {
		t.Errorf("%+v, %v", all, err)
	}
	if texts := trace.Lacks(all); len(texts) != 1 || !strings.Contains(texts[0], "records were dropped") {
		t.Errorf("%q", texts)
	}
}
