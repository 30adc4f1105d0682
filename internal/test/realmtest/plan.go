// Package realmtest makes random jobs for package realm, and executes them twice: on the ranks of a job, and one
// operation after the other. What both end with is the same text, over whatever conduit.
package realmtest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/golci/golci/realm"
)

// kind is what an operation does.
type kind uint8

const (
	addTask     kind = iota // a task adds one array of its rank to another
	longTask                // a task adds its arguments, which may be long, to an array
	failTask                // a task fails
	copyData                // copies from array to array
	gatherData              // gathers from array to array
	scatterData             // scatters from array to array
	fillData                // fills an array
	foldData                // reduces a fold instance into an array
	listData                // reduces a list instance into an array
	hold                    // changes the payload of a reservation
	share                   // looks at the payload of a reservation, together with others
	phase                   // a phase of a barrier, at which all ranks arrive with values
	everywhere              // a task on all processors of all ranks, which changes the payload of a reservation
	merge                   // merges events
	user                    // triggers a user event
	cancel                  // cancels a user event
	kinds
)

// CPUs is how many CPU processors each rank has to have.
const CPUs = 2

// TestConfig is how a rank of a plan is to be configured.
var TestConfig = realm.Config{CPUs: CPUs, Segment: 8 << 20}

// maxPhases is how many phases of a barrier a plan has: the results of that many are kept.
const maxPhases = 12

// array is an instance with a field of int64, and another field that nobody writes.
type array struct {
	rank       int
	registered bool // in registered memory
	order      realm.Order
	field      int   // the number of the field of int64, 0 or 1
	lo, hi     int64 // its points, but the multiples of skip if that is not 0
	skip       int64
}

func (a *array) has(i int64) bool { return i >= a.lo && i < a.hi && (a.skip == 0 || i%a.skip != 0) }

// points are those of a, in order.
func (a *array) points() (list []int64) {
	for i := a.lo; i < a.hi; i++ {
		if a.has(i) {
			list = append(list, i)
		}
	}
	return list
}

// op is an operation of a plan.
type op struct {
	kind   kind
	at     int   // the rank that calls it
	owner  int   // the rank that owns its event
	deps   []int // former operations, whose poison poisons this one unless it ignores that
	order  []int // former operations on the same data, which are not poisoned
	ignore bool
	inTask bool // it is called in a task
	waits  bool // and this task waits for its end

	proc     realm.ProcessorKind // of a task
	dst, src int                 // arrays
	points   []int64             // nil: all
	index    []int64
	x        int64
	lock     int
	barrier  int
	number   int // of the phase, from 0

	causes []string // one of them poisons it; none: it is not poisoned
}

// Plan is a random job. All is fixed when it is made: what each operation waits for, and what the job ends with.
type Plan struct {
	Seed  uint64
	Ranks int

	name     string
	kill     bool // some rank will die
	arrays   []array
	locks    []int // the rank that makes each reservation
	barriers []int // the rank that makes each barrier
	ops      []op
	ends     state // of the serial execution
}

// Config says what a plan is to have.
type Config struct {
	Ranks, Ops int
	Kill       bool // a rank is to die: an operation's event belongs to the rank that calls it, and poison goes on
	kinds      []kind
}

// maker makes a plan.
type maker struct {
	*Plan
	rng    *rand.Rand
	kinds  []kind
	data   []use // of each array
	phases []int // of each barrier, so far
}

// use is what has been done with an array since it was last written.
type use struct {
	writer         int // -1: none
	readers, adder []int
}

// New makes the plan of a seed.
func New(seed uint64, c Config) *Plan {
	m := &maker{Plan: &Plan{Seed: seed, Ranks: c.Ranks, kill: c.Kill}, rng: rand.New(rand.NewPCG(seed, 7))}
	if m.kinds = c.kinds; m.kinds == nil {
		for k := range kinds {
			m.kinds = append(m.kinds, k)
		}
	}
	for range 3 * c.Ranks {
		m.addArray()
	}
	for range 1 + m.rng.IntN(2*c.Ranks) {
		m.locks = append(m.locks, m.rank())
		m.barriers = append(m.barriers, m.rank())
		m.phases = append(m.phases, 0)
	}
	m.ends = newState(m.Plan)
	for len(m.ops) < c.Ops {
		m.addOp()
	}
	return m.Plan
}

func (m *maker) rank() int { return m.rng.IntN(m.Ranks) }

func (m *maker) one(of int) bool { return m.rng.IntN(of) == 0 }

func (m *maker) addArray() {
	a := array{
		rank: len(m.arrays) % m.Ranks, registered: m.one(2), order: realm.Order(m.rng.IntN(2)),
		field: m.rng.IntN(2), lo: m.rng.Int64N(20),
	}
	a.hi = a.lo + 30 + m.rng.Int64N(100)
	if m.one(5) {
		a.hi += 20_000 // more than one message has room for
	}
	if m.one(2) {
		a.skip = 2 + m.rng.Int64N(5)
	}
	m.arrays = append(m.arrays, a)
	m.data = append(m.data, use{writer: -1})
}

// addOp adds an operation, executes it, and notes what later ones have to wait for.
func (m *maker) addOp() {
	o := op{
		kind: m.kinds[m.rng.IntN(len(m.kinds))], at: m.rank(), owner: m.rank(), x: m.rng.Int64N(1 << 40),
		ignore: m.one(4) && !m.kill, inTask: m.one(4), dst: -1, src: -1,
	}
	if m.kill {
		o.owner = o.at
	}
	o.waits = o.inTask && m.one(2)
	for range m.rng.IntN(4) {
		if n := len(m.ops); n > 0 {
			o.deps = append(o.deps, n-1-m.rng.IntN(min(n, 30)))
		}
	}
	if !m.choose(&o) {
		return
	}
	m.outcome(&o)
	if o.causes == nil {
		m.use(&o)
		m.ends.do(m.Plan, &o)
	}
	m.ops = append(m.ops, o)
}

// outcome finds out what poisons o.
func (m *maker) outcome(o *op) {
	if !o.ignore {
		for _, d := range o.deps {
			o.causes = append(o.causes, m.ops[d].causes...)
		}
	}
	if o.kind == cancel || o.kind == failTask {
		o.causes = append(o.causes, causeOf(len(m.ops)))
	}
	slices.Sort(o.causes)
	o.causes = slices.Compact(o.causes)
}

// causeOf is the cause of operation i; none is a part of another.
func causeOf(i int) string { return fmt.Sprintf("<cause %d>", i) }

// use has o wait for those before it that use the same data otherwise.
func (m *maker) use(o *op) {
	i := len(m.ops)
	if o.src >= 0 {
		u := &m.data[o.src]
		o.order = append(append(o.order, u.adder...), u.last()...)
		u.readers = append(u.readers, i)
	}
	if o.dst < 0 {
		return
	}
	u := &m.data[o.dst]
	o.order = append(append(o.order, u.readers...), u.last()...)
	if o.kind == foldData || o.kind == listData {
		u.adder = append(u.adder, i)
		return
	}
	o.order = append(o.order, u.adder...)
	*u = use{writer: i}
}

func (u *use) last() []int {
	if u.writer < 0 {
		return nil
	}
	return []int{u.writer}
}
