package realm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/observe/trace"
	"github.com/golci/golci/internal/test/tracetest"
	"github.com/golci/golci/rank"
)

// collector collects profiles.
type collector struct {
	mu      sync.Mutex
	of      map[Event]OperationProfile
	batches int
	twice   []OperationProfile
}

func (c *collector) take(batch []OperationProfile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batches++
	for _, p := range batch {
		if _, ok := c.of[p.Finish]; ok {
			c.twice = append(c.twice, p)
		}
		c.of[p.Finish] = p
	}
}

// await waits until n profiles have come.
func (c *collector) await(t *testing.T, rt *Runtime, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		c.mu.Lock()
		got := len(c.of)
		c.mu.Unlock()
		if got >= n {
			return
		}
		rt.engine.Poll()
		time.Sleep(100 * time.Microsecond)
	}
	t.Errorf("%d profiles, want %d", len(c.of), n)
}

// wanted is what a profile is to say.
type wanted struct {
	task    string
	proc    Processor
	outcome Outcome
}

// TestProfile: each task that asks for it has one profile, whatever becomes of it and wherever it runs.
func TestProfile(t *testing.T) {
	for n := 1; n <= 2; n++ {
		err := Run(n, func(rt *Runtime) error {
			if rt.Rank() == 0 {
				profileAll(t, rt)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func profileAll(t *testing.T, rt *Runtime) {
	c := collector{of: map[Event]OperationProfile{}}
	prof := Profile(rt.NewProfiler(c.take))
	want := map[Event]wanted{}
	cause := errors.New("canceled on purpose")
	const each = 200
	for dst := range rt.Size() {
		cpu, io := makeProcessor(dst, CPU, 0), makeProcessor(dst, IO, 0)
		gate := rt.NewUserEvent()
		for i := range each {
			e := Spawn(rt, cpu, sumTask, sumArgs{1, 2, uint32(i % len(results))}, prof, After(gate.Event()))
			want[e] = wanted{"sum", cpu, Completed}
		}
		poisoned := rt.NewUserEvent()
		_ = poisoned.Cancel(cause)
		want[Spawn(rt, cpu, sumTask, sumArgs{}, prof, After(poisoned.Event()))] = wanted{"sum", cpu, Skipped}
		want[Spawn(rt, cpu, failTask, "no", prof)] = wanted{"fail", cpu, Failed}
		want[Spawn(rt, cpu, panicTask, "no", prof)] = wanted{"panic", cpu, Failed}
		want[Spawn(rt, io, sumTask, sumArgs{}, prof)] = wanted{"sum", io, Completed}
		canceled := Spawn(rt, cpu, sumTask, sumArgs{}, prof, After(gate.Event()))
		want[canceled] = wanted{"sum", cpu, Skipped}
		if err := rt.CancelOperation(canceled, cause); err != nil {
			t.Error(err)
		}
		_ = gate.Trigger(NoEvent)
	}
	g, err := rt.NewGroup(rt.CPU(0))
	if err != nil {
		t.Error(err)
	}
	want[SpawnLocal(rt, g, func(*Ctx) error { return nil }, prof)] = wanted{"function", rt.CPU(0), Completed}
	c.await(t, rt, len(want))
	for range 20 { // with pauses, in which profiles are delivered
		e := Spawn(rt, rt.CPU(0), sumTask, sumArgs{}, prof)
		want[e] = wanted{"sum", rt.CPU(0), Completed}
		c.await(t, rt, len(want))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.twice) > 0 || len(c.of) != len(want) || c.batches >= len(want) {
		t.Errorf("%d profiles of %d tasks in %d batches, twice: %v", len(c.of), len(want), c.batches, c.twice)
	}
	for e, w := range want {
		checkProfile(t, w, c.of[e])
	}
}

func checkProfile(t *testing.T, w wanted, p OperationProfile) {
	t.Helper()
	if (wanted{p.Task, p.Processor, p.Outcome}) != w {
		t.Errorf("%+v, want %+v", p, w)
	}
	times := []time.Duration{p.Create, p.Ready, p.Start, p.End, p.Complete}
	if w.outcome == Skipped {
		times = []time.Duration{p.Create, p.Complete}
		if p.Start != 0 || p.End != 0 {
			t.Errorf("%+v has run", p)
		}
	}
	for i := range times {
		if times[i] <= 0 || i > 0 && times[i] < times[i-1] {
			t.Errorf("times of %+v", p)
		}
	}
}

// TestProfileTimes: a task that waits for its precondition, then for its turn, and then runs, says how long each was.
// In each of the three the test lets the clock of the runtime go on.
func TestProfileTimes(t *testing.T) {
	err := Run(1, func(rt *Runtime) error {
		const some = time.Duration(1 << 20) // of the clock
		goOn := func() {
			for since := time.Duration(rt.ev.Log.Clock.Now()); time.Duration(rt.ev.Log.Clock.Now())-since < some; {
				runtime.Gosched()
			}
		}
		c := collector{of: map[Event]OperationProfile{}}
		gate, began := rt.NewUserEvent(), time.Duration(rt.ev.Log.Clock.Now())
		var state atomic.Int32 // 1: the processor is busy; 2: not any more
		SpawnLocal(rt, rt.CPU(0), func(*Ctx) error {
			for state.Store(1); state.Load() == 1; {
				runtime.Gosched()
			}
			return nil
		})
		e := SpawnLocal(rt, rt.CPU(0), func(*Ctx) error {
			goOn()
			return nil
		}, Profile(rt.NewProfiler(c.take)), After(gate.Event()))
		for state.Load() == 0 {
			runtime.Gosched()
		}
		goOn()
		_ = gate.Trigger(NoEvent)
		goOn()
		state.Store(2)
		c.await(t, rt, 1)
		p, ended, scale := c.of[e], time.Duration(rt.ev.Log.Clock.Now()), rt.ev.Log.Clock.Scale()
		// The profile was converted earlier, by a rate that may be another one by a little.
		least, most := scale(uint64(began+some))-scale(uint64(began)), scale(uint64(ended))-scale(uint64(began))
		least, most = least-least/10, most+most/10
		if p.Ready-p.Create < least || p.Start-p.Ready < least || p.End-p.Start < least || p.Complete < p.End ||
			p.Complete-p.Create > most {
			t.Errorf("%+v, want three times at least %v, and %v at most in all", p, least, most)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestProfilersApart: each of two profilers gets all that is its own, at most 256 at a time, however many come while
// the utility processor is busy.
func TestProfilersApart(t *testing.T) {
	const n = 700
	err := Run(1, func(rt *Runtime) error {
		var mu sync.Mutex
		var once sync.Once
		busy, free := make(chan struct{}), make(chan struct{})
		tasks, arrays := map[Event]int{}, [2]int{}
		var profilers [2]*Profiler
		for i := range profilers {
			profilers[i] = rt.NewProfiler(func(batch []OperationProfile) {
				once.Do(func() { close(busy); <-free })
				mu.Lock()
				defer mu.Unlock()
				if len(batch) > 256 {
					t.Errorf("%d profiles at a time", len(batch))
				}
				for _, p := range batch {
					if p.Kind == OperationTask {
						tasks[p.Finish] = i
					} else if p.Bytes == int64(8+8*i) {
						arrays[i]++
					}
				}
			})
		}
		array := func(i int) error {
			_, err := profilers[i].NewInstance(rt.Memory(System), Range(0, int64(1+i)), SOA, FieldOf[uint64]("x"))
			return err
		}
		if err := array(0); err != nil {
			return err
		}
		<-busy
		want := map[Event]int{}
		gate := rt.NewUserEvent()
		for i := range n {
			sink := i / (n - 50) * (i % 2) // many of one, then both by turns
			want[SpawnLocal(rt, rt.CPU(0), func(*Ctx) error { return nil }, Profile(profilers[sink]),
				After(gate.Event()))] = sink
			if err := array(sink); err != nil {
				return err
			}
		}
		_ = gate.Trigger(NoEvent)
		close(free)
		late := time.Now().Add(time.Minute)
		for over := false; !over && time.Now().Before(late); runtime.Gosched() {
			mu.Lock()
			over = len(tasks) == n && arrays == [2]int{n - 25 + 1, 25}
			mu.Unlock()
			rt.engine.Poll()
		}
		mu.Lock()
		defer mu.Unlock()
		if len(tasks) != n || arrays != [2]int{n - 25 + 1, 25} {
			t.Errorf("%d profiles of tasks, %v of arrays", len(tasks), arrays)
		}
		if !maps.Equal(tasks, want) {
			t.Error("profiles have come to the wrong profiler")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// mark is an event of a timeline.
type mark struct {
	Phase string  `json:"ph"`
	Rank  int     `json:"pid"`
	Track int     `json:"tid"`
	Time  float64 `json:"ts"`
	Long  float64 `json:"dur"`
	Name  string  `json:"name"`
	Cat   string  `json:"cat"`
	ID    string  `json:"id"`
	Args  struct {
		Peer, Bytes, From   int
		Value, Count        int
		Finish, Reservation uint64
	}
}

func marksOf(t *testing.T, parts ...string) []mark {
	t.Helper()
	var b bytes.Buffer
	if _, err := trace.Write(&b, parts); err != nil {
		t.Fatal(err)
	}
	var timeline struct {
		Events []mark `json:"traceEvents"`
	}
	tracetest.Valid(t, b.Bytes())
	if err := json.Unmarshal(b.Bytes(), &timeline); err != nil {
		t.Fatal(err)
	}
	return timeline.Events
}

var waitTask = Register("waits", func(c *Ctx, e Event) error { return c.Wait(e) })

// TestTimelineOfTasks: tasks are slices, cut where they wait, with arrows from their spawns and preconditions, also
// across ranks.
func TestTimelineOfTasks(t *testing.T) {
	dir := t.TempDir()
	cfg := rank.Config{Settings: map[string]string{settings.Trace.Env(): filepath.Join(dir, "%r.part")}}
	const each = 20
	other := make(chan *Runtime, 1)
	err := RunWith(2, cfg, func(rt *Runtime) error {
		if rt.Rank() != 0 {
			other <- rt
			return nil
		}
		gate := rt.NewUserEvent()
		var all []Event
		for dst := range 2 {
			cpu := makeProcessor(dst, CPU, 0)
			for range each {
				e := Spawn(rt, cpu, waitTask, gate.Event())
				all = append(all, e, Spawn(rt, cpu, sumTask, sumArgs{}, After(gate.Event())))
			}
		}
		awaitWaiters(rt, gate.Event(), 2*each)
		awaitWaiters(<-other, gate.Event(), 2*each)
		_ = gate.Trigger(NoEvent)
		return rt.Wait(context.Background(), rt.Merge(all...))
	})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	ends := map[string][2]int{}
	for _, m := range marksOf(t, filepath.Join(dir, "0.part"), filepath.Join(dir, "1.part")) {
		count[m.Phase+" "+m.Name]++
		key := m.Name + m.ID
		x := ends[key]
		switch m.Phase {
		case "s":
			x[0]++
		case "f":
			x[1]++
		}
		ends[key] = x
	}
	slice := "X" // threads that are goroutines have spans
	if count["X sum"] == 0 {
		slice = "b"
	}
	if got := count[slice+" sum"]; got != 2*each {
		t.Errorf("%d tasks that do not wait, want %d; %v", got, 2*each, count)
	}
	if got := count[slice+" waits"]; got != 4*each || count["b wait"] != 2*each {
		t.Errorf("%d slices of %d tasks that wait, and %d waits", got, 2*each, count["b wait"])
	}
	if count["s task"] != 4*each || slice == "X" && count["f task"] != 4*each {
		t.Errorf("%v", count)
	}
	for key, x := range ends {
		if x[0] > 1 || x[1] > 1 || slice == "X" && x[1] > x[0] {
			t.Errorf("arrow %s begins %d times and ends %d times", key, x[0], x[1])
		}
	}
}

// BenchmarkWatched has tasks in a chain, unwatched and watched.
func BenchmarkWatched(b *testing.B) {
	for _, how := range []string{"off", "profile", "timeline", "both"} {
		b.Run(how, func(b *testing.B) {
			var cfg rank.Config
			if how == "timeline" || how == "both" {
				path := filepath.Join(b.TempDir(), "x.part")
				cfg.Settings = map[string]string{settings.Trace.Env(): path + ",limit=1T"}
			}
			err := RunWith(1, cfg, func(rt *Runtime) error {
				var opts []Option
				if how == "profile" || how == "both" {
					opts = append(opts, Profile(rt.NewProfiler(func([]OperationProfile) {})))
				}
				return rt.Wait(context.Background(), SpawnLocal(rt, rt.CPU(0), func(c *Ctx) error {
					chains(b, c, opts)
					return nil
				}))
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

// chains measures the spawning and running of tasks in chains of 1024.
func chains(b *testing.B, c *Ctx, opts []Option) {
	const n = 1024
	all := append([]Option{After()}, opts...)
	for b.Loop() {
		u := c.Runtime().NewUserEvent()
		last := u.Event()
		for range n {
			all[0] = After(last)
			last = Spawn(c, c.Processor(), nothing, args40{}, all...)
		}
		_ = u.Trigger(NoEvent)
		_ = c.Wait(last)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/task")
}
