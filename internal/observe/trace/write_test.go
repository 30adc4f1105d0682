package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golci/golci/internal/test/tracetest"
)

var rewrite = flag.Bool("rewrite", false, "write the timelines in testdata anew")

// event is an event of a timeline, as a viewer reads it.
type event struct {
	Phase    string          `json:"ph"`
	Rank     int             `json:"pid"`
	Track    int             `json:"tid"`
	Time     float64         `json:"ts"`
	Duration float64         `json:"dur"`
	Name     string          `json:"name"`
	Category string          `json:"cat"`
	ID       string          `json:"id"`
	Args     json.RawMessage `json:"args"`
}

// timelineOf parses a timeline.
func timelineOf(t *testing.T, text []byte) (events []event, ranks []Summary) {
	t.Helper()
	var all struct {
		Unit   string    `json:"displayTimeUnit"`
		Other  otherData `json:"otherData"`
		Events []event   `json:"traceEvents"`
	}
	tracetest.Valid(t, text)
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return all.Events, all.Other.Ranks
}

// written is the timeline of parts.
func written(t *testing.T, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := Write(&b, parts); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// draft makes a part by hand. Ticks are those of a machine at 2 GHz whose clock showed 1000 at tick 0.
type draft struct{ output }

func newDraft(rank int, machine string) *draft {
	d := &draft{output{buf: []byte(partMark)}}
	d.writeJSON(blockHead, 0, &header{
		Version: partVersion, Rank: rank, Size: 2, Host: "host-" + machine, Machine: machine, Ticks: true,
	})
	d.noteClock(note{Now: 0, Clock: 1000})
	d.noteClock(note{Now: 20000, Clock: 11000})
	return d
}

func (d *draft) track(id uint32, name string) { d.writeBlock(blockTrack, id, []byte(name)) }
func (d *draft) label(n uint32, l Label)      { d.writeJSON(blockName, n, &l) }
func (d *draft) add(lane uint32, e ...Record) {
	at := d.openBlock(blockRecords, lane)
	for i := range e {
		d.buf = e[i].appendTo(d.buf)
	}
	d.shutBlock(at)
}

func (d *draft) save(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "part")
	if err := os.WriteFile(path, d.buf, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// drafts are two parts of a job with records of all kinds. Rank 1 is on a machine whose clock is 5000 ns behind.
func drafts() (a, b *draft) {
	a, b = newDraft(0, "a"), newDraft(1, "b")
	for _, d := range []*draft{a, b} {
		d.writeJSON(blockZero, 0, 2000)
		d.track(0, "worker 0")
		d.track(1, `say "poll"`)
		d.label(1, Label{Text: "task", Category: "realm", Args: [3]string{"index", ""}})
		d.label(2, Label{Text: "send eager", Category: "message", Args: [3]string{"peer", "bytes"}})
		d.label(3, Label{Text: "ready"})
	}
	a.add(0, Record{Start: 2100, End: 2200, A: 1, B: 8, Flow: 1 << 63, Name: 2, Kind: Slice | FlowOut},
		Record{Start: 2100, End: 4001, A: 7, Name: 1, Kind: Slice},
		Record{Start: 4001, A: 3, Name: 3, Kind: Count}, Record{Start: 2500, End: 5000, Name: 3, Kind: Span})
	a.writeBlock(blockEnd, 0, nil)
	b.noteClock(note{Now: 4000, Clock: 3000, Sync: true, Theirs: 8000, Within: 10})
	b.noteClock(note{Now: 8000, Clock: 5000, Sync: true, Theirs: 10000, Within: 10})
	b.add(1, Record{Start: 1000, End: 1200, A: 0, B: 8, Flow: 1 << 63, Name: 2, Kind: Slice | FlowIn},
		Record{Start: 1002, Name: 9, Kind: Instant}, Record{Start: 1100, Flow: 5, Name: 1, Kind: FlowOut})
	b.writeJSON(blockDropped, 1, 12)
	b.writeBlock(blockEnd, 0, nil)
	return a, b
}

// TestGolden compares a small timeline with a file that was checked by hand against the format.
func TestGolden(t *testing.T) {
	a, b := drafts()
	got := written(t, a.save(t), b.save(t))
	const path = "testdata/two.json"
	if *rewrite {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	events, ranks := timelineOf(t, got)
	if len(ranks) != 2 || !ranks[0].Ended || ranks[1].Dropped != 12 || ranks[0].Records != 4 {
		t.Errorf("%+v", ranks)
	}
	find := func(phase string, rank int) event {
		i := slices.IndexFunc(events, func(e event) bool { return e.Phase == phase && e.Rank == rank })
		if i < 0 {
			t.Fatalf("no event %q of rank %d", phase, rank)
		}
		return events[i]
	}
	// 2100 ticks are 2050 ns of rank 0's machine. 1000 ticks are 1500 ns of rank 1's, 6500 of rank 0's.
	// The arrow ends 1 ns after the beginning of its slice.
	if s, f := find("s", 0), find("f", 1); s.ID != f.ID || s.Category != f.Category || s.Name != f.Name ||
		s.Time != 0.05 || f.Time != 4.501 {
		t.Errorf("arrow from %+v to %+v", s, f)
	}
}

// TestOneTick: a message is sent and taken at one time of a coarse clock. Viewers take what is at one time in the order
// of the file, in which the receiver may come first. The arrow is there all the same.
func TestOneTick(t *testing.T) {
	for _, length := range []uint64{0, 2, 1000} {
		a, b := newDraft(0, "a"), newDraft(1, "a")
		for _, d := range []*draft{a, b} {
			d.track(0, "worker 0")
			d.label(1, Label{Text: "message", Category: "message"})
		}
		a.add(0, Record{Start: 2000, End: 2000 + length, Flow: 7, Name: 1, Kind: Slice | FlowIn},
			Record{Start: 2000, End: 2000, Name: 1, Kind: Slice})
		b.add(0, Record{Start: 2000, End: 2000 + length, Flow: 7, Name: 1, Kind: Slice | FlowOut})
		if open := tracetest.Valid(t, written(t, a.save(t), b.save(t))); len(open) != 0 {
			t.Errorf("arrows without an end: %v", open)
		}
	}
}

// TestCutAnywhere: whatever of a part is there, the timeline is JSON, and says that the part ends early.
func TestCutAnywhere(t *testing.T) {
	a, b := drafts()
	whole := b.buf
	path := a.save(t)
	least := len(newDraft(1, "b").buf)
	for n := least; n < len(whole); n++ {
		b.buf = whole[:n]
		var out bytes.Buffer
		all, err := Write(&out, []string{path, b.save(t)})
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		events, _ := timelineOf(t, out.Bytes())
		if texts := Lacks(all); len(texts) != 1 || !strings.HasPrefix(texts[0], "rank 1: its part ends early") {
			t.Fatalf("%d bytes: %q", n, texts)
		}
		if last := events[len(events)-1]; last.Phase != "i" || !strings.Contains(last.Name, "ends early") {
			t.Fatalf("%d bytes: the timeline ends with %+v", n, last)
		}
	}
}

// TestMergeTimelines: timelines of single ranks together are that of the parts together, if their clocks are the same.
func TestMergeTimelines(t *testing.T) {
	a, b := drafts()
	pa, pb := a.save(t), b.save(t)
	dir := t.TempDir()
	ja, jb := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for from, to := range map[string]string{pa: ja, pb: jb} {
		if _, err := WriteFile(to, []string{from}); err != nil {
			t.Fatal(err)
		}
	}
	whole := written(t, pa, pb)
	for _, paths := range [][]string{{ja, jb}, {pa, jb}} {
		if got := written(t, paths...); !bytes.Equal(got, whole) {
			t.Errorf("%v: got\n%s\nwant\n%s", paths, got, whole)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("files %v, %v", left, err)
	}
}

func TestWriteRefuses(t *testing.T) {
	a, b := drafts()
	other := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(other, []byte(`{"traceEvents":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	b.buf = bytes.Replace(b.buf, []byte(`"version":1`), []byte(`"version":7`), 1)
	cut := filepath.Join(t.TempDir(), "cut.json")
	if made := written(t, a.save(t)); os.WriteFile(cut, made[:len(made)-len("\n]}\n")], 0o600) != nil {
		t.Fatal("no file")
	}
	for _, paths := range [][]string{{a.save(t), a.save(t)}, {other}, {b.save(t)}, {"none"}, {cut}} {
		out := filepath.Join(t.TempDir(), "out")
		if _, err := WriteFile(out, paths); err == nil {
			t.Errorf("%v: no error", paths)
		} else if _, e := os.Stat(out); !errors.Is(e, os.ErrNotExist) {
			t.Errorf("%v: %v, and there is a file", paths, err)
		}
	}
}

func TestLacks(t *testing.T) {
	got := Lacks([]Summary{{Rank: 0, Size: 4, Ended: true}, {Rank: 2, Size: 4, Dropped: 3, Ended: true}, {
		Rank: 3,
		Size: 4,
	}})
	want := []string{"rank 2: 3 records were dropped", "rank 3: its part ends early", "rank 1: there is no part of it"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestTimeMap(t *testing.T) {
	var m timeMap
	for _, c := range []struct{ at, want int64 }{{7, 7}} {
		if got := m.toScale(c.at); got != c.want {
			t.Errorf("none: %d", got)
		}
	}
	m.addPoint(10, 110)
	if m.toScale(7) != 107 {
		t.Errorf("one point: %d", m.toScale(7))
	}
	m.addPoint(10, 50) // not later
	m.addPoint(20, 130)
	m.addPoint(30, 140)
	for at, want := range map[int64]int64{0: 90, 10: 110, 15: 120, 20: 130, 25: 135, 30: 140, 40: 150} {
		if got := m.toScale(at); got != want {
			t.Errorf("%d: %d, want %d", at, got, want)
		}
	}
}

func TestTimes(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0", 1: "0.001", 999: "0.999", 1000: "1", 1050: "1.050", -1500: "-1.500", 1e15 + 1: "1000000000000.001",
		math.MinInt64: "-9223372036854775.808", math.MaxInt64: "9223372036854775.807",
	} {
		var o events
		o.addTime("ts", ns)
		if got := string(o.line); got != fmt.Sprintf(`,"ts":%s`, want) {
			t.Errorf("%d: %s", ns, got)
		}
	}
}
