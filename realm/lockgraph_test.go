package realm

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

var lockGraphs = flag.Int("lockgraphs", 0, "how many random graphs with reservations; 0: a few")

// lockedPair is a payload. Who holds the reservation exclusively changes A before B.
type lockedPair struct{ A, B int64 }

// lockModel is a reservation of a graph, and who holds it according to the tasks that run.
type lockModel struct {
	r       Reservation[lockedPair]
	mu      sync.Mutex
	holders []lockHolder
	held    int64 // how often it was held exclusively
}

// lockHolder is a task that holds a reservation.
type lockHolder struct {
	mode Mode
	rank int
}

// enter notes a holder. A rank that has died does not count, although its tasks run on in this process.
func (m *lockModel) enter(x lockHolder, dead func(rank int) bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, y := range m.holders {
		if (x.mode == Exclusive || x.mode != y.mode) && !dead(x.rank) && !dead(y.rank) {
			return fmt.Errorf("%w: held in mode %d on rank %d, and granted in mode %d on rank %d",
				errWrong, y.mode, y.rank, x.mode, x.rank)
		}
	}
	if m.holders = append(m.holders, x); x.mode == Exclusive {
		m.held++
	}
	return nil
}

func (m *lockModel) leave(x lockHolder) {
	m.mu.Lock()
	i := slices.Index(m.holders, x)
	m.holders = slices.Delete(m.holders, i, i+1)
	m.mu.Unlock()
}

var errWrong = errors.New("WRONG")

// lockNode is an operation of a graph, and what may become of it.
type lockNode struct {
	e      Event
	what   string
	causes []string // that may poison it
	sure   bool     // one of them does
}

// lockGraph is a random graph of operations on reservations, over several ranks.
type lockGraph struct {
	sources []*lockNode
	number  uint64 // names the graph for its tasks
	rng     *rand.Rand
	rts     []*Runtime
	locks   []*lockModel
	nodes   []*lockNode
	begins  []func() error    // of sources
	late    []func() error    // releases that are called at the end
	victim  int               // a rank that dies, or -1
	dead    atomic.Bool       // the victim may have died
	die     func() []*Runtime // has it die, and returns the others
	wrong   atomic.Pointer[error]
}

var (
	lockGraphsAlive sync.Map // by number
	lockGraphNumber atomic.Uint64
)

type lockTaskArgs struct {
	Graph  uint64
	Locks  [2]int32 // -1: none
	Mode   Mode
	Cause  int64 // of a failure; -1: it does not fail
	Waits  bool
	Looks  bool // the task runs where the grant is
	Behind Event
}

var lockTask = Register("test.lockTask", func(c *Ctx, a lockTaskArgs) error {
	x, ok := lockGraphsAlive.Load(a.Graph)
	if !ok {
		return errWrong
	}
	g := x.(*lockGraph)
	if err := g.hold(c, a); err != nil {
		g.wrong.CompareAndSwap(nil, &err)
		return err
	}
	if a.Cause >= 0 {
		return errors.New(causeName(a.Cause))
	}
	return nil
})

// wrapTask ends as what it waits for, in words of its own.
var wrapTask = Register("test.wrapTask", func(c *Ctx, e Event) error {
	if err := c.Wait(e); err != nil {
		return fmt.Errorf("%0200d: %w", 0, err)
	}
	return nil
})

func causeName(i int64) string { return fmt.Sprintf("<%d>", i) }

// hold is what a task does that holds the reservations of a.
func (g *lockGraph) hold(c *Ctx, a lockTaskArgs) error {
	x := lockHolder{a.Mode, c.Processor().Rank()}
	for _, l := range a.Locks {
		if l < 0 {
			continue
		}
		if err := g.locks[l].enter(x, g.isDead); err != nil {
			return err
		}
		defer g.locks[l].leave(x)
	}
	var p *lockedPair
	if a.Looks {
		if p = g.locks[a.Locks[0]].r.ID().On(c).Payload(); p == nil || p.A != p.B {
			return fmt.Errorf("%w: the payload is %v", errWrong, p)
		}
		if a.Mode == Exclusive {
			p.A++
		}
	}
	if a.Waits {
		if err := c.Wait(SpawnLocal(c, c.Processor(), func(*Ctx) error { return nil })); err != nil {
			return err
		}
	}
	if p != nil && a.Mode == Exclusive {
		p.B++
	}
	return nil
}

func (g *lockGraph) isDead(rank int) bool { return rank == g.victim && g.dead.Load() }

func (g *lockGraph) one(of int) bool { return g.rng.IntN(of) == 0 }

func (g *lockGraph) rank() *Runtime { return g.rts[g.rng.IntN(len(g.rts))] }

// owner is who owns an event that at triggers. Where at may die, nobody else would do that.
func (g *lockGraph) owner(at *Runtime) *Runtime {
	if g.victim >= 0 {
		return at
	}
	return g.rank()
}

// some makes an event of several nodes on at.
func (g *lockGraph) some(at *Runtime) (e Event, causes []string, sure bool) {
	var events []Event
	for range g.rng.IntN(4) {
		if n := len(g.nodes); n > 0 {
			x := g.nodes[n-1-g.rng.IntN(min(n, 12))]
			events, causes, sure = append(events, x.e), append(causes, x.causes...), sure || x.sure
		}
	}
	return at.Merge(events...), causes, sure
}

// newCause is a cause that poisons a node that has sure or not.
func (g *lockGraph) newCause() (i int64, name string) {
	i = int64(len(g.nodes))
	return i, causeName(i)
}

func (g *lockGraph) add() {
	at := g.rank()
	switch g.rng.IntN(5) {
	case 0:
		g.addSource(at)
	case 1:
		e, causes, sure := g.some(at)
		u := at.UserEvent(g.owner(at).NewUserEvent().Event())
		g.put(&lockNode{u.Event(), "trigger", causes, sure}, u.Trigger(e))
	default:
		g.addHold(at)
	}
}

func (g *lockGraph) put(x *lockNode, err error) {
	if err != nil {
		x.what += ": " + err.Error()
		err = fmt.Errorf("%w: %w", errWrong, err)
		g.wrong.CompareAndSwap(nil, &err)
	}
	g.nodes = append(g.nodes, x)
}

func (g *lockGraph) addSource(at *Runtime) {
	u := at.UserEvent(g.owner(at).NewUserEvent().Event())
	x := &lockNode{e: u.Event(), what: "source"}
	begin := func() error { return u.Trigger(NoEvent) }
	if g.one(3) {
		_, name := g.newCause()
		x.causes, x.sure = []string{name}, true
		begin = func() error { return u.Cancel(errors.New(name)) }
	}
	g.put(x, nil)
	g.sources = append(g.sources, x)
	switch {
	case g.one(3):
		g.put(&lockNode{NoEvent, "begin", nil, false}, begin())
	case at.ev.Self != g.victim:
		g.begins = append(g.begins, begin)
	}
}

// addHold acquires a reservation, or one and then another, for a task, and releases after that.
func (g *lockGraph) addHold(at *Runtime) {
	pre, causes, sure := g.some(at)
	x := &lockNode{what: "hold", causes: causes, sure: sure}
	a := lockTaskArgs{Graph: g.number, Locks: [2]int32{g.rng.Int32N(int32(len(g.locks))), -1}, Cause: -1, Waits: g.one(4)}
	a.Mode = Mode(max(0, g.rng.IntN(5)-2))
	locks := []*lockModel{g.locks[a.Locks[0]]}
	grant := locks[0].r.ID().On(at).Acquire(a.Mode, pre)
	g.cancel(at, x, grant)
	if other := a.Locks[0] + 1; int(other) < len(g.locks) && g.one(3) {
		a.Locks[1] = other
		locks = append(locks, g.locks[other])
		grant = locks[1].r.ID().On(at).Acquire(a.Mode, grant)
		g.cancel(at, x, grant)
	}
	if g.one(8) {
		i, name := g.newCause()
		a.Cause, x.causes, x.sure = i, append(x.causes, name), true
	}
	on := at
	if g.one(3) {
		on = g.rank()
	}
	a.Looks = on == at
	extra := NoEvent                            // which may be poisoned before the grant
	if s := g.sources; len(s) > 0 && g.one(3) { // no hold, which may wait for the same reservation
		y := s[g.rng.IntN(len(s))]
		extra, x.causes, x.sure = y.e, append(slices.Clone(x.causes), y.causes...), x.sure || y.sure
	}
	x.e = Spawn(at, makeProcessor(on.ev.Self, CPU, 0), lockTask, a, After(extra, grant))
	g.cancel(at, x, x.e)
	after := x.e
	switch g.rng.IntN(5) {
	case 0:
		after = Spawn(at, makeProcessor(g.owner(at).ev.Self, CPU, 0), wrapTask, after)
	case 1:
		u := at.UserEvent(g.owner(at).NewUserEvent().Event())
		g.put(&lockNode{u.Event(), "follows", x.causes, x.sure}, u.Trigger(after))
		after = u.Event()
	}
	g.put(x, nil)
	for _, m := range locks {
		r, where := m.r, at // who releases a shared hold of another rank may lose sight of the payload
		if a.Mode == Exclusive && g.victim < 0 && g.one(3) {
			where = g.rank()
		}
		release := func() error { return r.ID().On(where).Release(after) }
		if g.one(3) && at.ev.Self != g.victim {
			g.late = append(g.late, release)
			continue
		}
		if err := release(); err != nil {
			g.put(&lockNode{NoEvent, "release", nil, false}, err)
		}
	}
}

// cancel may cancel the operation of e, which is a part of x.
func (g *lockGraph) cancel(at *Runtime, x *lockNode, e Event) {
	if e == NoEvent || !g.one(8) {
		return
	}
	_, name := g.newCause()
	x.causes = append(slices.Clone(x.causes), name)
	_ = at.CancelOperation(e, errors.New(name)) // it may have begun
}

// run builds a graph, begins its sources in a random order, and compares what becomes of it with the model.
func (g *lockGraph) run(ctx context.Context) error {
	g.number = lockGraphNumber.Add(1)
	lockGraphsAlive.Store(g.number, g)
	defer lockGraphsAlive.Delete(g.number)
	for range 2 + g.rng.IntN(3) {
		r, err := NewReservation[lockedPair](g.rank())
		if err != nil {
			return err
		}
		g.locks = append(g.locks, &lockModel{r: r})
	}
	for range 50 {
		g.add()
	}
	g.rng.Shuffle(len(g.begins), func(i, j int) { g.begins[i], g.begins[j] = g.begins[j], g.begins[i] })
	if g.die != nil {
		n := g.rng.IntN(len(g.begins) + 1)
		if err := errors.Join(call(g.begins[:n])...); err != nil {
			return err
		}
		g.begins = g.begins[n:]
		g.rts = g.die()
	}
	errs := []error{errors.Join(call(g.begins)...)}
	g.rng.Shuffle(len(g.late), func(i, j int) { g.late[i], g.late[j] = g.late[j], g.late[i] })
	errs = append(errs, call(g.late)...)
	errs = append(errs, g.checkNodes(ctx), g.checkLocks(ctx))
	if err := g.wrong.Load(); err != nil {
		errs = append(errs, *err)
	}
	return errors.Join(errs...)
}

func call(fs []func() error) (errs []error) {
	for _, f := range fs {
		errs = append(errs, f())
	}
	return errs
}

func (g *lockGraph) checkNodes(ctx context.Context) (errs error) {
	for i, x := range g.nodes {
		err := g.rank().Wait(ctx, x.e)
		if err == nil && !x.sure || err != nil && g.explains(x, err) {
			continue
		}
		errs = errors.Join(errs, fmt.Errorf("%w: node %d, %s: %v, want one of %q, sure %v", errWrong, i, x.what, err, x.causes, x.sure))
	}
	return errs
}

// explains tells whether err may be the end of x.
func (g *lockGraph) explains(x *lockNode, err error) bool {
	var p *PoisonError
	if !errors.As(err, &p) {
		return false
	}
	if g.victim >= 0 && (errors.Is(err, ErrPeer) || errors.Is(err, ErrForgotten)) {
		return true
	}
	return len(x.causes) > 0 && (p.Rank < 0 || slices.ContainsFunc(x.causes, func(c string) bool { return strings.Contains(p.Cause, c) }))
}

// checkLocks takes each reservation, which nobody may hold any more.
func (g *lockGraph) checkLocks(ctx context.Context) (errs error) {
	for i, m := range g.locks {
		at := g.rank()
		r := m.r.ID().On(at)
		if err := at.Wait(ctx, r.Acquire(Exclusive, NoEvent)); err != nil {
			if g.victim < 0 || !errors.Is(err, ErrPeer) {
				errs = errors.Join(errs, fmt.Errorf("%w: reservation %d is not free: %w", errWrong, i, err))
			}
			continue
		}
		m.mu.Lock() // a task of the rank that has died may be about to run yet
		held := m.held
		m.mu.Unlock()
		if p := r.Payload(); p.A != p.B || p.A > held {
			errs = errors.Join(errs, fmt.Errorf("%w: reservation %d has the payload %+v after %d holds", errWrong, i, *p, held))
		}
		errs = errors.Join(errs, r.Release(NoEvent))
	}
	return errs
}

// TestRandomLocksAndDeath: the same while a rank dies. What is poisoned names its cause, or the death. A reservation is
// free in the end, or refuses all because of the death.
func TestRandomLocksAndDeath(t *testing.T) {
	const victim = 1
	seed, graphs := seedOf(t), *lockGraphs
	if graphs == 0 {
		if graphs = 8; testing.Short() {
			graphs = 3
		}
	}
	for n := 2; n <= 3; n++ {
		for i := 0; i < graphs && !t.Failed(); i++ {
			g := &lockGraph{rng: rand.New(rand.NewPCG(seed, uint64(n*1_000_000+i))), victim: victim}
			if err := g.survive(t, n); err != nil {
				t.Errorf("seed %d, graph %d of %d ranks: %v", seed, i, n, err)
			}
		}
	}
}

// survive runs the graph on n ranks, of which the victim dies.
func (g *lockGraph) survive(t *testing.T, n int) (err error) {
	rts := make([]*Runtime, n)
	var ready, living sync.WaitGroup
	ready.Add(n)
	living.Add(n - 1)
	die, over := make(chan struct{}), make(chan struct{})
	end := errors.New("the end") // what has lost its conduit cannot finalize
	whole := Run(n, func(rt *Runtime) error {
		rts[rt.ev.Self] = rt
		ready.Done()
		ready.Wait()
		switch rt.ev.Self {
		case g.victim:
			<-die
			err := rt.ev.Endpoint.Conduit().Close()
			<-over
			return errors.Join(end, err)
		case 0:
			defer close(over)
			g.rts = rts
			g.die = func() []*Runtime {
				g.dead.Store(true)
				close(die)
				living.Done()
				must(t, rt.OfRank().BlockUntil(func() bool { return rt.ev.Endpoint.Gone(g.victim) }))
				living.Wait()
				return slices.Delete(slices.Clone(rts), g.victim, g.victim+1)
			}
			ctx, stop := context.WithTimeout(context.Background(), patience)
			defer stop()
			err = g.run(ctx)
			return end
		}
		must(t, rt.OfRank().BlockUntil(func() bool { return rt.ev.Endpoint.Gone(g.victim) }))
		living.Done()
		<-over
		return end
	})
	if err != nil {
		err = fmt.Errorf("%w; the job: %w", err, whole)
	}
	return err
}

// TestRandomLocks: random graphs of acquires, releases, tasks, failures and cancels over several ranks end as a model
// says. Nobody holds a reservation beside an exclusive holder, and all are free in the end.
func TestRandomLocks(t *testing.T) {
	seed, graphs := seedOf(t), *lockGraphs
	if graphs == 0 {
		if graphs = 40; testing.Short() {
			graphs = 12
		}
	}
	const inTeam = 50 // graphs, which share the patience of a team
	for i := range (graphs + inTeam - 1) / inTeam * 3 {
		n, first := 1+i%3, i/3*inTeam
		team(t, n, rankConfig("local"), func(rts []*Runtime) {
			for i := first; i < min(graphs, first+inTeam) && !t.Failed(); i++ {
				ctx, stop := context.WithTimeout(context.Background(), patience)
				g := &lockGraph{rng: rand.New(rand.NewPCG(seed, uint64(n*1_000_000+i))), rts: rts, victim: -1}
				if err := g.run(ctx); err != nil {
					t.Errorf("seed %d, graph %d of %d ranks: %v", seed, i, n, err)
				}
				stop()
			}
		})
	}
}
