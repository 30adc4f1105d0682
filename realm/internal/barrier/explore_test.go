package barrier

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/test/explore"
	"github.com/golci/golci/realm/internal/event"
)

// op is one call of a user. The calls of one rank are made in their order, those of different ranks in any.
type op struct {
	what  string // arrive, poison, alter, wait, move, destroy
	phase uint64
	n     int64
	use   int // number of the handle; 0 is the plain one. A call waits until there is such a handle
	makes int // number of the handle that alter makes
}

// plan is what the users do.
type plan struct {
	count  int64
	ops    [][]op // of each rank
	expect []int  // ranks whose death is to count, whatever they have done
	deaths bool   // one rank may die, at any time
	lazy   bool   // Flush may come later than the calls; else it comes with each
	big    bool   // it takes seconds
}

// total is what all users together make of a phase.
func (p *plan) total(phase uint64) (arrivals int64, poisoned bool) {
	for _, ops := range p.ops {
		for _, o := range ops {
			if o.phase == phase && (o.what == "arrive" || o.what == "poison") {
				arrivals += o.n
				poisoned = poisoned || o.what == "poison"
			}
		}
	}
	return arrivals, poisoned
}

// world is a plan under way.
type world struct {
	*job
	plan    *plan
	at      []int // next op of each rank
	handles []Handle
	done    [8]int64 // arrivals made, by phase
	wrong   error
	next    []step // that Steps has named
}

func newWorld(t testing.TB, p *plan) *world {
	j := newJob(t, len(p.ops), p.count)
	for _, r := range p.expect {
		j.act(0, func(b *Barrier, o *Out) { b.Expect(int32(r), o) })
	}
	return &world{job: j, plan: p, at: make([]int, len(p.ops)), handles: make([]Handle, 4)}
}

// step is something that can happen.
type step struct {
	name string
	do   func(w *world)
}

func (w *world) steps() (all []step) {
	for r, ops := range w.plan.ops {
		if w.dead[r] {
			continue
		}
		if i := w.at[r]; i < len(ops) && (ops[i].use == 0 || w.handles[ops[i].use].Phase != 0) {
			all = append(all, step{
				fmt.Sprintf("rank %d: %s %d", r, ops[i].what, ops[i].phase),
				func(w *world) { w.call(r, ops[i]) },
			})
		}
		if w.plan.lazy && w.dirty(r) {
			all = append(all, step{fmt.Sprintf("flush %d", r), func(w *world) { w.flush(r) }})
		}
	}
	for i, x := range w.wires {
		all = append(all, step{"deliver " + x.text, func(w *world) { w.deliver(i) }})
		if w.dead[x.from] {
			all = append(all, step{"lose " + x.text, func(w *world) { w.wires = slices.Delete(w.wires, i, i+1) }})
		}
	}
	return append(all, w.deaths()...)
}

func (w *world) deaths() (all []step) {
	if !w.plan.deaths {
		return nil
	}
	for r := range w.bs {
		if !slices.Contains(w.dead, true) {
			all = append(all, step{fmt.Sprintf("die %d", r), func(w *world) { w.die(r) }})
		}
		for d := range w.bs {
			if w.tellable(r, d) {
				all = append(all, step{fmt.Sprintf("tell %d of %d", r, d), func(w *world) { w.tell(r, d) }})
			}
		}
	}
	return all
}

func (w *world) call(r int, o op) {
	w.at[r]++
	h := Handle{o.phase, w.handles[o.use].Stamp}
	var err error
	switch o.what {
	case "arrive":
		w.done[o.phase] += o.n
		err = w.arrive(r, h, o.n, number(1<<(8*r)), nil)
	case "poison":
		w.done[o.phase] += o.n
		err = w.arrive(r, h, o.n, nil, &event.Poison{Rank: int32(r), Text: "planned"})
	case "alter":
		w.handles[o.makes], err = w.alter(r, h, o.n)
	case "wait":
		w.wait(r, o.phase)
	case "move":
		w.move(r, int(o.n))
	case "destroy":
		w.act(r, func(b *Barrier, o *Out) { b.Destroy(o) })
	}
	if err != nil && !(w.plan.destroys() && strings.Contains(err.Error(), Destroyed)) {
		w.wrong = fmt.Errorf("rank %d: %s %d: %w", r, o.what, o.phase, err)
	}
}

func (w *world) Steps() (names []string) {
	w.next = w.steps()
	for _, s := range w.next {
		names = append(names, s.name)
	}
	return names
}

func (w *world) Do(i int) {
	w.next[i].do(w)
	if !w.plan.lazy {
		for r := range w.bs {
			if !w.dead[r] && w.dirty(r) {
				w.flush(r)
			}
		}
	}
}

func (w *world) Clone() explore.World {
	c := *w
	c.job, c.at, c.handles = w.clone(), slices.Clone(w.at), slices.Clone(w.handles)
	return &c
}

func (w *world) Key() string { return fmt.Sprint(w.job.key(), w.at, w.handles, w.done) }

func (w *world) Check(rest bool) error {
	switch died := slices.Contains(w.dead, true) || w.plan.destroys(); {
	case w.wrong != nil:
		return w.wrong
	case w.errs != nil:
		return errors.New(strings.Join(w.errs, "; "))
	case len(w.owners()) > 1:
		return fmt.Errorf("owners are %v", w.owners())
	case rest && !died && len(w.owners()) != 1:
		return fmt.Errorf("at rest owners are %v", w.owners())
	}
	for at, how := range w.fired {
		if err := w.checkFired(at, how); err != nil {
			return err
		}
	}
	if rest {
		return w.checkRest()
	}
	return nil
}

// checkFired: what has fired without poison must have been complete, and so must be all before it.
func (w *world) checkFired(at mark, how string) error {
	all, poisoned := w.plan.total(at.phase)
	died := slices.Contains(w.dead, true)
	switch {
	case w.plan.destroys() && strings.Contains(how, Destroyed):
		return w.checkEnd(at)
	case how == "planned" && poisoned, how == "ok" && !poisoned:
	case died && strings.Contains(how, "died"):
		return nil
	default:
		return fmt.Errorf("%v fires: %s", at, how)
	}
	for p := uint64(1); p <= at.phase; p++ {
		if all, _ := w.plan.total(p); w.done[p] != all {
			return fmt.Errorf("%v fires after %d of %d arrivals at phase %d", at, w.done[p], all, p)
		}
	}
	if w.dead[at.rank] || how != "ok" || w.plan.destroys() { // the result may be gone
		return nil
	}
	v, err := w.bs[at.rank].Result(at.phase)
	if got, want := value(v), w.plan.sum(at.phase); err != nil || got != want {
		return fmt.Errorf("%v of %d: result %#x, not %#x, %v", at, all, got, want, err)
	}
	return nil
}

// sum is the value of a phase.
func (p *plan) sum(phase uint64) (v uint64) {
	for r, ops := range p.ops {
		for _, o := range ops {
			if o.phase == phase && o.what == "arrive" {
				v += 1 << (8 * r)
			}
		}
	}
	return v
}

// checkRest: all calls have been made, unless a death keeps a handle away, and all waiters have fired.
func (w *world) checkRest() error {
	died := slices.Contains(w.dead, true)
	for r, ops := range w.plan.ops {
		if w.dead[r] {
			continue
		}
		if w.at[r] < len(ops) && !died {
			return fmt.Errorf("rank %d: call %d cannot be made", r, w.at[r])
		}
		if w.plan.destroys() && !died && len(ops) > 0 && !w.gone[r] {
			return fmt.Errorf("rank %d has not forgotten the barrier", r)
		}
		for _, o := range ops[:w.at[r]] {
			if died && w.unknown() {
				continue
			}
			if at := (mark{r, o.phase}); o.what == "wait" && w.fired[at] == "" {
				return fmt.Errorf("%v waits for ever", at)
			}
		}
	}
	return nil
}

func (p *plan) destroys() bool {
	return slices.ContainsFunc(p.ops, func(ops []op) bool {
		return slices.ContainsFunc(ops, func(o op) bool { return o.what == "destroy" })
	})
}

// checkEnd: a wait ends because the barrier was destroyed. It has been, and the owner had not told the rank more.
func (w *world) checkEnd(at mark) error {
	for r, ops := range w.plan.ops {
		if i := slices.IndexFunc(ops, func(o op) bool { return o.what == "destroy" }); i >= 0 && i < w.at[r] {
			return nil
		}
	}
	return fmt.Errorf("%v: the barrier has not been destroyed", at)
}

// unknown tells whether the owner lives and has nothing of the dead rank. Then its death is nothing to the barrier.
func (w *world) unknown() bool {
	dead := int32(slices.Index(w.dead, true))
	own := w.owners()
	return len(own) == 1 && !w.bs[own[0]].members.hasRank(dead)
}

var plans = map[string]plan{
	"altered handle on another rank": {count: 2, ops: [][]op{
		{{what: "arrive", phase: 1, n: 1}, {what: "wait", phase: 1}},
		{{what: "alter", phase: 1, n: 1, makes: 1}, {what: "arrive", phase: 1, n: 1}},
		{{what: "wait", phase: 1}, {what: "arrive", phase: 1, n: 1, use: 1}},
	}},
	"alterations in a chain": {count: 1, ops: [][]op{
		{{what: "wait", phase: 1}},
		{{what: "alter", phase: 1, n: 2, makes: 1}, {what: "arrive", phase: 1, n: 1}},
		{{what: "alter", phase: 1, n: -1, use: 1, makes: 2}, {what: "arrive", phase: 1, n: 1, use: 2}},
	}},
	"two alterations of one rank": {count: 1, ops: [][]op{
		{{what: "wait", phase: 1}},
		{
			{what: "alter", phase: 1, n: 1, makes: 1},
			{what: "alter", phase: 1, n: 1, use: 1, makes: 2},
			{what: "arrive", phase: 1, n: 1, use: 1},
		},
		{{what: "arrive", phase: 1, n: 2, use: 2}},
	}},
	"alteration and migration": {big: true, count: 2, ops: [][]op{
		{{what: "move", n: 2}, {what: "wait", phase: 1}},
		{{what: "alter", phase: 1, n: 1, makes: 1}, {what: "arrive", phase: 1, n: 1}},
		{{what: "arrive", phase: 1, n: 1}, {what: "arrive", phase: 1, n: 1, use: 1}},
	}},
	"phases ahead": {count: 2, ops: [][]op{
		{{what: "wait", phase: 1}},
		{{what: "arrive", phase: 2, n: 1}, {what: "arrive", phase: 1, n: 1}, {what: "wait", phase: 2}},
		{
			{what: "arrive", phase: 1, n: 1},
			{what: "poison", phase: 2, n: 1},
			{what: "wait", phase: 1},
			{what: "wait", phase: 2},
		},
	}},
	"late subscribers out of order": {count: 1, ops: [][]op{
		{{what: "arrive", phase: 1, n: 1}, {what: "poison", phase: 2, n: 1}, {what: "arrive", phase: 3, n: 1}},
		{{what: "wait", phase: 3}, {what: "wait", phase: 1}},
		{{what: "wait", phase: 2}, {what: "wait", phase: 3}, {what: "wait", phase: 1}},
	}},
	"migration there and back": {big: true, count: 2, ops: [][]op{
		{{what: "arrive", phase: 1, n: 1}, {what: "wait", phase: 1}},
		{{what: "move", n: 1}, {what: "arrive", phase: 1, n: 1}},
		{{what: "move", n: 0}, {what: "wait", phase: 1}},
	}},
	"migration while phases trigger": {big: true, count: 2, ops: [][]op{
		{{what: "arrive", phase: 1, n: 1}, {what: "arrive", phase: 2, n: 2}},
		{{what: "arrive", phase: 1, n: 1}, {what: "move", n: 2}, {what: "wait", phase: 2}},
		{{what: "wait", phase: 1}},
	}},
	"flush later": {count: 4, lazy: true, ops: [][]op{
		{{what: "arrive", phase: 1, n: 1}, {what: "move", n: 1}},
		{{what: "arrive", phase: 1, n: 1}, {what: "wait", phase: 1}, {what: "arrive", phase: 1, n: 1}},
		{{what: "wait", phase: 1}, {what: "arrive", phase: 1, n: 1}},
	}},
	"death": {count: 2, deaths: true, ops: [][]op{
		{{what: "arrive", phase: 1, n: 1}, {what: "arrive", phase: 2, n: 1}, {what: "wait", phase: 2}},
		{{what: "arrive", phase: 1, n: 1}, {what: "wait", phase: 1}, {what: "arrive", phase: 2, n: 1}},
		{{what: "wait", phase: 1}},
	}},
	"the end, by the owner": {count: 2, ops: [][]op{
		{{what: "arrive", phase: 1, n: 1}, {what: "wait", phase: 1}, {what: "destroy"}, {what: "wait", phase: 2}},
		{{what: "arrive", phase: 1, n: 1}, {what: "wait", phase: 1}},
		{{what: "wait", phase: 1}, {what: "wait", phase: 2}},
	}},
	"the end, by another rank, and late arrivals": {count: 1, ops: [][]op{
		{{what: "wait", phase: 1}},
		{{what: "destroy"}, {what: "wait", phase: 1}},
		{{what: "arrive", phase: 1, n: 1}, {what: "arrive", phase: 2, n: 1}},
	}},
	"two ends, and migration": {big: true, count: 1, ops: [][]op{
		{{what: "move", n: 1}, {what: "destroy"}},
		{{what: "destroy"}},
		{{what: "wait", phase: 1}, {what: "arrive", phase: 1, n: 1}},
	}},
	"the end after migration twice": {big: true, count: 1, ops: [][]op{
		{{what: "move", n: 1}, {what: "move", n: 0}, {what: "destroy"}},
		{{what: "arrive", phase: 1, n: 1}},
		{{what: "wait", phase: 1}},
	}},
	"the end, migration and a death": {big: true, count: 1, deaths: true, ops: [][]op{
		{{what: "move", n: 1}, {what: "destroy"}},
		{{what: "arrive", phase: 1, n: 1}},
		{{what: "wait", phase: 1}},
	}},
	"the end, and a death": {big: true, count: 1, deaths: true, ops: [][]op{
		{{what: "wait", phase: 1}},
		{{what: "arrive", phase: 1, n: 1}, {what: "destroy"}},
		{{what: "wait", phase: 1}},
	}},
	"death of a rank that is expected": {count: 2, deaths: true, expect: []int{0, 1, 2}, ops: [][]op{
		{{what: "wait", phase: 1}},
		{{what: "arrive", phase: 1, n: 1}},
		{{what: "arrive", phase: 1, n: 1}, {what: "wait", phase: 1}},
	}},
	"death of a rank that is expected, and migration": {
		big: true, count: 1, deaths: true, expect: []int{1, 2},
		ops: [][]op{
			{{what: "move", n: 1}, {what: "wait", phase: 1}},
			{{what: "wait", phase: 1}},
			{{what: "arrive", phase: 1, n: 1}},
		},
	},
	"death and migration": {big: true, count: 2, deaths: true, ops: [][]op{
		{{what: "move", n: 1}, {what: "wait", phase: 1}},
		{{what: "arrive", phase: 1, n: 1}},
		{{what: "arrive", phase: 1, n: 1}, {what: "wait", phase: 1}},
	}},
	"death and alteration": {count: 2, deaths: true, ops: [][]op{
		{{what: "arrive", phase: 1, n: 1}},
		{{what: "alter", phase: 1, n: 1, makes: 1}, {what: "arrive", phase: 1, n: 1}},
		{{what: "arrive", phase: 1, n: 1, use: 1}, {what: "wait", phase: 1}},
	}},
}

// TestEveryOrder runs small plans on three ranks, with the calls of different ranks, the messages and a death in every
// order.
func TestEveryOrder(t *testing.T) {
	if invariants.Race {
		t.Skip("one goroutine explores: the race detector finds nothing, and takes a minute for it")
	}
	sample := explore.NewSample(3)
	t.Log(sample)
	for i, name := range slices.Sorted(maps.Keys(plans)) {
		p := plans[name]
		t.Run(name, func(t *testing.T) {
			if p.big && (testing.Short() || !sample.Has(i)) {
				t.Skip("10,000 states or more take seconds")
			}
			most := 2_000_000
			r, err := explore.All(newWorld(t, &p), most)
			t.Logf("%d states, %d at rest", r.States, r.Rests)
			if err != nil {
				t.Error(err)
			}
		})
	}
}
