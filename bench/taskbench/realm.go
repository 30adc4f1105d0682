package taskbench

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golci/golci/realm"
)

// Realm divides the points among the ranks. On each rank a task spawns the tasks of some steps ahead of their
// execution, and another one goes on when most of them have ended. The precondition of each is the ends of the tasks
// that it depends on. A task sends its output to other ranks itself: it spawns a task there, which stores the output
// and triggers an event.
type Realm struct {
	rt      *realm.Runtime
	cpus    int
	current atomic.Pointer[graphRun] // the run that goes on

	mu      sync.Mutex      // guards what follows; on rank 0
	arrived int             // ranks that wait for the others
	release realm.UserEvent // they are all there
}

// realms finds the Realm of a runtime, for tasks that other ranks spawn here. It is there from the first of these.
var realms sync.Map // *realm.Runtime to *Realm

func realmOf(rt *realm.Runtime) *Realm {
	m, ok := realms.Load(rt)
	if !ok {
		m, _ = realms.LoadOrStore(rt, &Realm{rt: rt, cpus: 1, release: rt.NewUserEvent()})
	}
	return m.(*Realm)
}

// NewRealm makes the runner of a rank, which has so many CPU processors. Close ends its use. All ranks do so.
func NewRealm(rt *realm.Runtime, cpus int) *Realm {
	m := realmOf(rt)
	m.cpus = cpus
	return m
}

// Close forgets the runner. It is called when Run has returned on this rank.
func (m *Realm) Close() { realms.Delete(m.rt) }

// arrival lets a rank wait until all have come.
type arrival struct{ Rank int32 }

var arrive = realm.Register("taskbench.arrive", func(c *realm.Ctx, _ arrival) error {
	m := realmOf(c.Runtime())
	m.mu.Lock()
	release := m.release
	m.arrived++
	last := m.arrived == m.rt.Size()
	if last {
		m.arrived, m.release = 0, m.rt.NewUserEvent()
	}
	m.mu.Unlock()
	if last {
		return release.Trigger(realm.NoEvent)
	}
	return c.Wait(release.Event())
})

// arrive is an event that triggers once the events that all ranks have called it with have.
func (m *Realm) arrive(after realm.Event) realm.Event {
	return realm.Spawn(m.rt, realm.ProcessorOf(0), arrive, arrival{int32(m.rt.Rank())}, realm.After(after))
}

// meet blocks until all ranks have called it.
func (m *Realm) meet() error { return m.rt.Wait(context.Background(), m.arrive(realm.NoEvent)) }

// Run implements Runner.
func (m *Realm) Run(r *Run) (time.Duration, error) {
	g := newGraphRun(m, r)
	place, err := enter(g)
	if err != nil {
		return 0, err
	}
	defer running[place].Store(nil)
	g.place = uint32(place)
	m.current.Store(g)
	if err := m.meet(); err != nil {
		return 0, err
	}
	start := time.Now()
	over := g.start()
	if m.rt.Size() > 1 {
		over = m.arrive(over)
	}
	end, err := m.await(over)
	return end.Sub(start), err
}

// glance is how often a goroutine looks for the end of the job.
const glance = 100 * time.Millisecond

// await blocks until e has triggered, and tells when that was. Runtime.Wait would poll meanwhile, beside the worker
// that runs the tasks.
func (m *Realm) await(e realm.Event) (end time.Time, err error) {
	type outcome struct {
		end time.Time
		err error
	}
	done := make(chan outcome, 1)
	realm.SpawnLocal(m.rt, m.rt.CPU(0), func(c *realm.Ctx) error {
		done <- outcome{time.Now(), c.Wait(e)}
		return nil
	}, realm.After(e), realm.IgnoreFaults())
	ended := time.NewTicker(glance)
	defer ended.Stop()
	for {
		select {
		case x := <-done:
			return x.end, x.err
		case <-ended.C:
			if err := m.rt.OfRank().Ended(); err != nil {
				return time.Time{}, err
			}
		}
	}
}

// running has the runs that go on in this process, so that the arguments of their tasks are numbers only.
var running [64]atomic.Pointer[graphRun]

func enter(g *graphRun) (place int, err error) {
	for i := range running {
		if running[i].CompareAndSwap(nil, g) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("taskbench: more than %d runs in a process", len(running))
}

// graphRun is one run on one rank.
type graphRun struct {
	*Run
	realm   *Realm
	place   uint32
	outputs [2][][]Stamp      // of even and odd steps, by own point
	ends    [2][]realm.Event  // of the tasks that write these
	readers [][][]int         // by set and point: see anti
	needs   [][]need          // by set and point
	far     *farEdges         // nil with one rank
	cpus    []realm.Processor // by own point

	// These belong to the tasks that spawn, of which one runs at a time.
	mark   realm.Event     // the tasks of the last steps but some have ended
	end    realm.UserEvent // all tasks from the next step on have ended
	before []realm.Event   // preconditions, used again
}

func newGraphRun(m *Realm, r *Run) *graphRun {
	n := r.own.Len()
	g := &graphRun{
		Run: r, realm: m, outputs: [2][][]Stamp{r.output(n), r.output(n)},
		ends: [2][]realm.Event{make([]realm.Event, n), make([]realm.Event, n)},
	}
	g.readers = g.anti()
	g.needs = g.allNeeds()
	for i := range n {
		g.cpus = append(g.cpus, m.rt.CPU(i*m.cpus/n))
	}
	if m.rt.Size() > 1 {
		g.far = newFarEdges(g)
	}
	return g
}

// anti lists points of this rank for each set and point. Their tasks of the step before read what the point's task of
// this step writes over. Those that it depends on anyway are left out.
func (g *graphRun) anti() [][][]int {
	all := make([][][]int, g.Sets())
	for i := 2; i < len(g.stages); i++ {
		s, before := &g.stages[i], &g.stages[i-1]
		if all[s.set] != nil {
			continue
		}
		all[s.set] = make([][]int, g.Width)
		for point := g.own.First; point <= g.own.Last; point++ {
			for _, reader := range before.nodes[point].out {
				if g.own.Has(reader) && !slices.Contains(s.nodes[point].in, reader) {
					all[s.set][point] = append(all[s.set][point], reader)
				}
			}
		}
	}
	return all
}

// need is the preconditions of a point's task of a step, where all points have tasks in the two steps before.
type need struct {
	last []int // own points whose tasks of the step before are to end
	self bool  // and that of the point itself, two steps before
}

// allNeeds looks up the needs of all points of this rank.
func (g *graphRun) allNeeds() [][]need {
	all := make([][]need, g.Sets())
	for i := 2; i < len(g.stages); i++ {
		s, before := &g.stages[i], &g.stages[i-1]
		if all[s.set] != nil {
			continue
		}
		all[s.set] = make([]need, g.Width)
		for point := g.own.First; point <= g.own.Last; point++ {
			n := need{self: !slices.ContainsFunc(before.nodes[point].out, g.own.Has)}
			for _, p := range slices.Concat(s.nodes[point].in, g.readers[s.set][point]) {
				if g.own.Has(p) {
					n.last = append(n.last, p-g.own.First)
				}
			}
			all[s.set][point] = n
		}
	}
	return all
}

// realmAhead is about how many tasks a rank has spawned that have not ended.
const realmAhead = 128

// some says from which step on a task spawns the tasks of some steps.
type some struct{ Place, Step uint32 }

// spawn spawns the tasks of some steps, and then itself for the following steps.
var spawn realm.Task[some]

func init() { // not above: the function refers to the variable
	spawn = realm.Register("taskbench.spawn", func(c *realm.Ctx, s some) error {
		return running[s.Place].Load().spawn(c, int(s.Step))
	})
}

// start spawns all tasks in the end. It returns the event that all of them have ended.
func (g *graphRun) start() realm.Event {
	rt := g.realm.rt
	g.end = rt.NewUserEvent()
	return rt.Merge(g.end.Event(), realm.Spawn(rt, rt.CPU(0), spawn, some{Place: g.place}))
}

func (g *graphRun) spawn(c *realm.Ctx, step int) error {
	rt, end := g.realm.rt, g.end
	for range max(1, realmAhead/2/max(1, g.own.Len())) {
		if step == g.Steps {
			return end.Trigger(rt.Merge(slices.Concat(g.ends[0], g.ends[1])...))
		}
		g.spawnStep(c, step)
		step++
	}
	mark := g.mark
	g.mark, g.end = rt.Merge(g.ends[(step-1)%2]...), rt.NewUserEvent()
	next := realm.Spawn(c, c.Processor(), spawn, some{g.place, uint32(step)}, realm.After(mark))
	return end.Trigger(rt.Merge(next, g.end.Event()))
}

func (g *graphRun) spawnStep(c *realm.Ctx, step int) {
	w := g.window(step)
	for point := max(w.First, g.own.First); point <= min(w.Last, g.own.Last); point++ {
		g.before = g.preconditions(g.before[:0], step, point)
		i := point - g.own.First
		g.ends[step%2][i] = realm.Spawn(c, g.cpus[i], execute, which{g.place, uint32(step), uint32(point)},
			realm.After(g.before...))
	}
}

// preconditions appends the events that a task waits for: its inputs are there, and nobody needs what it writes over.
func (g *graphRun) preconditions(list []realm.Event, step, point int) []realm.Event {
	if !g.stages[step].full { // that of the step before
		return g.partly(list, step, point)
	}
	last, n := g.ends[(step+1)%2], &g.needs[g.stages[step+1].set][point]
	for _, i := range n.last {
		list = append(list, last[i])
	}
	if n.self {
		list = append(list, g.ends[step%2][point-g.own.First])
	}
	if g.far == nil {
		return list
	}
	for _, in := range g.far.inputs.inputs(step, point) {
		if in != nil {
			list = append(list, in.events[step].Event())
		}
	}
	return list
}

// partly is preconditions where some points have no tasks.
func (g *graphRun) partly(list []realm.Event, step, point int) []realm.Event {
	last := g.ends[(step+1)%2]
	for i, p := range g.Inputs(step, point) {
		if g.own.Has(p) {
			list = append(list, last[p-g.own.First])
		} else {
			list = append(list, g.far.inputs.inputs(step, point)[i].events[step].Event())
		}
	}
	if step < 2 {
		return list
	}
	anti := g.readers[g.stages[step+1].set][point]
	from, to := within(anti, g.window(step-1))
	for _, reader := range anti[from:to] {
		list = append(list, last[reader-g.own.First])
	}
	if !g.readHere(step-2, point) {
		list = append(list, g.ends[step%2][point-g.own.First])
	}
	return list
}

// readHere tells whether tasks of this rank depend on a task. They are preconditions of who writes over its output.
func (g *graphRun) readHere(step, point int) bool {
	out := g.Outputs(step, point)
	if g.far == nil {
		return len(out) > 0
	}
	return slices.ContainsFunc(out, g.own.Has)
}

// which says what a task of a graph executes.
type which struct{ Place, Step, Point uint32 }

var execute = realm.Register("taskbench.execute", func(c *realm.Ctx, w which) error {
	return running[w.Place].Load().execute(c, int(w.Step), int(w.Point))
})

// fewInputs is how many inputs a task takes without an allocation.
const fewInputs = 8

func (g *graphRun) execute(c *realm.Ctx, step, point int) error {
	var few [fewInputs][]Stamp
	inputs := few[:0]
	from, out := g.outputs[(step+1)%2], g.outputs[step%2][point-g.own.First]
	for i, p := range g.Inputs(step, point) {
		if g.own.Has(p) {
			inputs = append(inputs, from[p-g.own.First])
		} else {
			inputs = append(inputs, g.far.inputs.inputs(step, point)[i].input(step))
		}
	}
	g.Task(step, point, out, inputs)
	if g.far != nil {
		return g.far.send(c, step, point, out)
	}
	return nil
}
