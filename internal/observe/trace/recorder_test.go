package trace

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func newRecorder(t testing.TB, cfg Config) (*Recorder, string) {
	t.Helper()
	if cfg.Path == "" {
		cfg.Path = filepath.Join(t.TempDir(), "part")
	}
	cfg.Size = max(cfg.Size, 1)
	if cfg.Tell == nil {
		cfg.Tell = func(err error) { t.Error(err) }
	}
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r, cfg.Path
}

// TestRecorder: tracks of several owners and one that is shared, names that come late, and all of it in the timeline.
func TestRecorder(t *testing.T) {
	r, path := newRecorder(t, Config{Host: "here"})
	const owners, each = 4, 3000
	shared := r.Track("all")
	var wg sync.WaitGroup
	for i := range owners {
		wg.Go(func() {
			l := r.Track("owner " + strconv.Itoa(i))
			for n := range uint64(each) {
				name := r.Name(Label{Text: "step " + strconv.Itoa(int(n/1000)), Args: [3]string{"n"}})
				start := l.Now()
				l.Add(Record{Start: start, End: l.Now(), A: n, Name: name, Kind: Slice})
				way := uint64(i)<<32 | n
				shared.AddShared(Record{Name: name, Kind: Slice | FlowOut, Flow: way}, Record{Kind: FlowIn, Flow: way})
			}
		})
	}
	wg.Wait()
	r.Close()
	events, ranks := timelineOf(t, written(t, path))
	count := map[string]int{}
	last := map[int]float64{}
	for _, e := range events {
		count[e.Phase+" "+e.Name]++
		if e.Phase == "X" {
			if e.Time < last[e.Track] {
				t.Fatalf("%+v lies in the slice before it, which ends at %v", e, last[e.Track])
			}
			last[e.Track] = e.Time
		}
	}
	for _, name := range []string{"X step 0", "X step 1", "X step 2"} {
		if count[name] != 2*owners*1000 {
			t.Errorf("%d of %q, want %d", count[name], name, 2*owners*1000)
		}
	}
	if count["s golci"] != owners*each || count["M thread_name"] != owners+1 {
		t.Errorf("%v", count)
	}
	if s := ranks[0]; s.Host != "here" || s.Records != 3*owners*each || s.Dropped != 0 || !s.Ended {
		t.Errorf("%+v", s)
	}
}

// TestOrderInTrack: a chunk is filled, and the next one begun, between two looks of the writer. The first one is
// written first, and so is the one that is filled when the recorder ends.
func TestOrderInTrack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "part")
	r, err := beginRecording(Config{Path: path, Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	l := r.Track("one")
	n := uint64(0)
	add := func(count int) {
		for range count {
			n++
			l.Add(Record{Start: l.Now(), A: n, Kind: Instant})
		}
	}
	add(chunkRecords - 24)
	r.out.writeRest()
	add(124)
	r.out.writeRest()
	add(chunkRecords)
	r.out.endOutput()
	events, _ := timelineOf(t, written(t, path))
	last, count := -1.0, uint64(0)
	for _, e := range events {
		if e.Phase != "i" {
			continue
		}
		if count++; e.Time < last {
			t.Fatalf("record %d is at %v us, behind one at %v", count, e.Time, last)
		}
		last = e.Time
	}
	if count != n {
		t.Errorf("%d of %d records are in the timeline", count, n)
	}
}

// TestTimesOfRecords: what is recorded at two moments is as far apart in the timeline as it was.
func TestTimesOfRecords(t *testing.T) {
	r, path := newRecorder(t, Config{})
	l := r.Track("one")
	begin, start := r.Now(), time.Now()
	time.Sleep(30 * time.Millisecond)
	l.Add(Record{Start: begin, End: r.Now(), Kind: Slice})
	want := time.Since(start)
	r.Close()
	events, _ := timelineOf(t, written(t, path))
	e := events[len(events)-1]
	if got := time.Duration(e.Duration * 1e3); got > want+time.Millisecond || got < 30*time.Millisecond-time.Millisecond {
		t.Errorf("%v became %v", want, got)
	}
	if e.Time < 0 || e.Time > 1e6 {
		t.Errorf("it begins at %v us of the timeline", e.Time)
	}
}

// TestLimit: the file stays within its limit, and what it does not have is counted.
func TestLimit(t *testing.T) {
	const limit = 300 << 10
	r, path := newRecorder(t, Config{Limit: limit})
	const all = 20000
	for i := range 2 {
		l := r.Track("lane " + strconv.Itoa(i))
		for n := range uint64(all / 2) {
			l.Add(Record{Start: l.Now(), A: n, Kind: Instant})
			for n%chunkRecords == 0 && len(r.news) > 0 { // let it be written
				time.Sleep(time.Millisecond)
			}
		}
	}
	r.Close()
	st, err := os.Stat(path)
	if err != nil || st.Size() > limit+4096 {
		t.Errorf("%d bytes, %v", st.Size(), err)
	}
	var b bytes.Buffer
	sum, err := Write(&b, []string{path})
	if err != nil {
		t.Fatal(err)
	}
	if s := sum[0]; s.Records+s.Dropped != all || s.Dropped == 0 || s.Records == 0 || !s.Ended {
		t.Errorf("%+v, want %d in all", s, all)
	}
	if events, _ := timelineOf(t, b.Bytes()); !strings.Contains(events[len(events)-1].Name, "records were dropped") {
		t.Errorf("the timeline ends with %+v", events[len(events)-1])
	}
}

// TestMemory: tracks that find no chunk count what they drop, and go on when there is one.
func TestMemory(t *testing.T) {
	r, path := newRecorder(t, Config{Memory: 2 * chunkRecords * recordBytes})
	lanes := []*Track{r.Track("a"), r.Track("b"), r.Track("c")}
	for _, l := range lanes {
		l.Add(Record{Start: l.Now(), Kind: Instant})
	}
	if d := lanes[2].dropped.Load(); d != 1 {
		t.Errorf("%d dropped where all memory was taken", d)
	}
	for range chunkRecords { // which gives a chunk back, and may take it again
		lanes[0].Add(Record{Start: r.Now(), Kind: Instant})
	}
	deadline := time.Now().Add(10 * time.Second)
	for r.lack.Load() && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	lanes[2].Add(Record{Start: r.Now(), Kind: Instant})
	r.Close()
	_, ranks := timelineOf(t, written(t, path))
	dropped := lanes[0].dropped.Load() + lanes[2].dropped.Load()
	if s := ranks[0]; s.Dropped != dropped || s.Records != 4+chunkRecords-dropped || dropped > 3 {
		t.Errorf("%+v, the lanes say %d", s, dropped)
	}
}

// TestUnclosed: a rank that dies leaves what it did until shortly before.
func TestUnclosed(t *testing.T) {
	r, path := newRecorder(t, Config{})
	r.Track("one").Add(Record{Start: r.Now(), Kind: Instant})
	deadline := time.Now().Add(10 * time.Second)
	for {
		_, ranks := timelineOf(t, written(t, path))
		if s := ranks[0]; s.Records == 1 && !s.Ended {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v", ranks)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestNil(t *testing.T) {
	var r *Recorder
	l := r.Track("none")
	l.Add(Record{})
	l.AddShared(Record{})
	r.Sync(1, 2, 3)
	r.SetZero(4)
	r.Close()
	if r.Now() != 0 || l.Now() != 0 || r.Name(Label{Text: "a"}) != 0 || l != nil {
		t.Error("a recorder that is not there does something")
	}
}

// TestFileErrors: no file is an error; one that cannot be written is told once, and the rank goes on.
func TestFileErrors(t *testing.T) {
	if _, err := New(Config{Path: filepath.Join(t.TempDir(), "none", "part")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no file without room")
	}
	var told atomic.Int32
	r, _ := newRecorder(t, Config{Path: "/dev/full", Tell: func(error) { told.Add(1) }})
	l := r.Track("one")
	for range 3 * chunkRecords {
		l.Add(Record{Start: l.Now(), Kind: Instant})
	}
	r.Close()
	r.Close()
	l.Add(Record{Start: l.Now(), Kind: Instant})
	if told.Load() != 1 {
		t.Errorf("told %d times", told.Load())
	}
}

// BenchmarkAdd measures a record that is written in the end, to a file that takes no time.
func BenchmarkAdd(b *testing.B) {
	r, _ := newRecorder(b, Config{Path: os.DevNull, Limit: 1 << 60})
	l := r.Track("one")
	run := func(name string, f func(n uint64)) {
		b.Run(name, func(b *testing.B) {
			before := l.dropped.Load()
			f(uint64(b.N))
			b.ReportMetric(float64(l.dropped.Load()-before)/float64(b.N), "dropped/op")
		})
	}
	run("record", func(n uint64) {
		for i := range n {
			l.Add(Record{A: i, Kind: Slice})
		}
	})
	run("with-time", func(n uint64) {
		start := l.Now()
		for i := range n {
			end := l.Now()
			l.Add(Record{Start: start, End: end, A: i, Kind: Slice})
			start = end
		}
	})
	var none *Track
	run("off", func(n uint64) {
		for i := range n {
			none.Add(Record{A: i, Kind: Slice})
		}
	})
}

// TestClock: differences of times are those of Go's clock.
func TestClock(t *testing.T) {
	for _, ticks := range []bool{true, false} {
		c := NewClock()
		c.ticks = c.ticks && ticks
		start, from := time.Now(), c.Now()
		time.Sleep(20 * time.Millisecond)
		to, took := c.Now(), time.Since(start)
		scale := c.Scale()
		if d := scale(to) - scale(from); d < 19*time.Millisecond || d > took+time.Millisecond || scale(from) < 0 {
			t.Errorf("ticks %v: %v passed, the clock says %v from %v", ticks, took, d, scale(from))
		}
	}
}

// TestLongNames: a name of any length is cut, and what is recorded after it is in the timeline.
func TestLongNames(t *testing.T) {
	r, path := newRecorder(t, Config{Host: "here"})
	long := strings.Repeat("é<", 1<<19)
	l := r.Track(long)
	name := r.Name(Label{Text: long, Category: long, Args: [3]string{long, long, long}})
	l.Add(Record{Start: l.Now(), Name: name, Kind: Instant})
	l.Add(Record{Start: l.Now(), Name: r.Name(Label{Text: "last"}), Kind: Instant})
	r.Close()
	events, ranks := timelineOf(t, written(t, path))
	if !ranks[0].Ended || ranks[0].Records != 2 {
		t.Errorf("%+v", ranks[0])
	}
	if last := events[len(events)-1]; last.Name != "last" {
		t.Errorf("the last event is %.100q", last.Name)
	}
	if cut := events[len(events)-2].Name; len(cut) < 1000 || !strings.HasPrefix(long, cut) {
		t.Errorf("%.100q of %d bytes", cut, len(cut))
	}
}
