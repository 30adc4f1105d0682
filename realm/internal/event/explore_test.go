package event

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/golci/golci/internal/test/explore"
)

// act is one step of a script. Steps of a script happen in order; scripts run side by side.
type act struct {
	do   string // create, wait, withdraw, merge, trigger, poison, forget, lose, die or vanish, which loses what was sent
	rank int
	slot int
	gen  uint32
	of   []simEvent // merge
}

// simWorld is a system, and how far its scripts have come.
type simWorld struct {
	*system
	scripts [][]act // does not change
	at      []int
}

func newSimWorld(ranks int, owners []int, scripts ...[]act) *simWorld {
	x := newSystem(ranks, owners...)
	x.quiet = true
	for _, s := range scripts {
		for _, a := range s {
			if a.do == "trigger" || a.do == "poison" {
				x.by[simEvent{a.slot, a.gen}] = a.rank
			}
		}
	}
	return &simWorld{x, scripts, make([]int, len(scripts))}
}

// can tells whether an act is possible now. An event is used once it has been created: its handle may have travelled
// faster than any message. A slot has its next generation once its owner knows of the last trigger. What a dead rank
// was to do is dropped.
func (w *simWorld) can(a act) bool {
	known := func(slot int, gen uint32) bool { return len(w.slots[slot].truth) >= int(gen) }
	switch a.do {
	case "create":
		return !w.slots[a.slot].alive && int(a.gen) == len(w.slots[a.slot].truth)+1
	case "withdraw":
		return slices.ContainsFunc(w.jobs, a.waits)
	case "merge":
		for _, e := range a.of {
			if !known(e.slot, e.gen) {
				return false
			}
		}
		return known(a.slot, a.gen)
	case "forget":
		return w.canForget(a.rank, a.slot)
	case "lose":
		return w.canLose(a.slot) && len(w.slots[a.slot].truth) >= int(a.gen)
	case "die", "vanish":
		return true
	}
	return known(a.slot, a.gen)
}

func (a act) waits(j *job) bool {
	return j.rank == a.rank && j.slot == a.slot && j.gen == a.gen && j.merge == 0
}

func (w *simWorld) perform(a act) {
	switch a.do {
	case "create":
		w.create(a.slot)
	case "wait":
		w.wait(&job{name: fmt.Sprint(a), rank: a.rank, slot: a.slot, gen: a.gen})
	case "withdraw":
		w.withdraw(w.jobs[slices.IndexFunc(w.jobs, a.waits)])
	case "merge":
		w.merges = append(w.merges, merge{rank: a.rank, slot: a.slot, gen: a.gen, left: len(a.of)})
		for _, e := range a.of {
			w.wait(&job{name: fmt.Sprint(a), rank: a.rank, slot: e.slot, gen: e.gen, merge: len(w.merges)})
		}
	case "trigger":
		w.trigger(a.rank, a.slot, a.gen, nil)
	case "poison":
		w.trigger(a.rank, a.slot, a.gen, because(a.gen))
	case "forget":
		w.forget(a.rank, a.slot)
	case "lose":
		w.lose(a.slot)
	case "die", "vanish":
		w.die(a.rank, a.do == "vanish")
	}
}

// ready calls f for the scripts that have a step, and stops when f says so.
func (w *simWorld) ready(f func(script int, a act) (stop bool)) {
	for i, s := range w.scripts {
		if w.at[i] < len(s) && !w.dead[s[0].rank] && w.can(s[w.at[i]]) && f(i, s[w.at[i]]) {
			return
		}
	}
}

func (w *simWorld) Steps() (names []string) {
	w.ready(func(_ int, a act) bool {
		names = append(names, fmt.Sprint(a))
		return false
	})
	for i, m := range w.msgs {
		if w.deliverable(i) {
			names = append(names, m.String())
		}
	}
	return names
}

func (w *simWorld) Do(step int) {
	script := -1
	w.ready(func(i int, _ act) bool {
		if step == 0 {
			script = i
		}
		step--
		return script >= 0
	})
	if script >= 0 {
		w.at[script]++
		w.perform(w.scripts[script][w.at[script]-1])
		return
	}
	for i := range w.msgs {
		if w.deliverable(i) {
			if step == 0 {
				w.deliver(i)
				return
			}
			step--
		}
	}
}

func (w *simWorld) Check(rest bool) error {
	for i, s := range w.scripts {
		if rest && w.at[i] < len(s) && !w.dead[s[0].rank] {
			return fmt.Errorf("script %d is stuck at %v", i, s[w.at[i]])
		}
	}
	return w.check(rest)
}

func (w *simWorld) Clone() explore.World {
	return &simWorld{w.system.clone(), w.scripts, slices.Clone(w.at)}
}

func (x *system) clone() *system {
	y := *x
	y.dead = slices.Clone(x.dead)
	y.msgs = slices.Clone(x.msgs)
	y.merges = slices.Clone(x.merges)
	y.slots = slices.Clone(x.slots)
	y.jobs = make([]*job, len(x.jobs))
	twin := make(map[*Waiter]*Waiter, len(x.jobs))
	for i, j := range x.jobs {
		c := *j
		c.Op, c.Next = &c, nil
		y.jobs[i], twin[&j.Waiter] = &c, &c.Waiter
	}
	again := func(l List) (m List) {
		l.Each(func(w *Waiter) { m.Push(twin[w]) })
		return m
	}
	for i := range y.slots {
		y.slots[i].clone(again)
	}
	return &y
}

func (s *simSlot) clone(again func(List) List) {
	s.truth = slices.Clone(s.truth)
	s.wait = again(s.wait)
	if s.extra != nil {
		r := *s.extra
		r.subs.more = slices.Clone(r.subs.more)
		r.questions = slices.Clone(r.questions)
		r.poisoned.runs, r.poisoned.causes = slices.Clone(r.poisoned.runs), slices.Clone(r.poisoned.causes)
		s.extra = &r
	}
	s.at = slices.Clone(s.at)
	for i := range s.at {
		r := &s.at[i]
		r.first.wait = again(r.first.wait)
		r.more = slices.Clone(r.more)
		for k := range r.more {
			r.more[k].wait = again(r.more[k].wait)
		}
		r.own = slices.Clone(r.own)
	}
}

// Key has all that a state consists of. The order of messages is not part of it.
func (w *simWorld) Key() string {
	b := make([]byte, 0, 512)
	for _, at := range w.at {
		b = append(b, byte(at))
	}
	for i := range w.slots {
		b = w.appendSlot(b, &w.slots[i])
	}
	for _, j := range w.jobs {
		b = append(b, 'j', byte(j.rank), byte(j.slot), byte(j.gen), byte(j.merge), byte(j.fired), flag(j.withdrawn))
		b = append(b, flag(j.atOnce))
		b = appendWhy(b, j.got)
	}
	for _, m := range w.merges {
		b = append(b, 'm', byte(m.slot), byte(m.left), flag(m.done))
	}
	for _, d := range w.dead {
		b = append(b, flag(d))
	}
	return string(w.appendMessages(b))
}

func (w *simWorld) appendMessages(b []byte) []byte {
	keys := make([]string, len(w.msgs))
	for i, m := range w.msgs {
		k := []byte{byte(m.kind), byte(m.from), byte(m.to), byte(m.slot), byte(m.gen), flag(m.asked), byte(m.about)}
		keys[i] = string(m.poisoned.Append(appendWhy(k, m.why)))
	}
	slices.Sort(keys)
	for _, k := range keys {
		b = append(append(b, 'w', byte(len(k))), k...)
	}
	return b
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func appendWhy(b []byte, why *Poison) []byte {
	if why == nil {
		return append(b, '-')
	}
	return why.Append(b)
}

func (w *simWorld) appendSlot(b []byte, s *simSlot) []byte {
	name := func(x *Waiter) { b = append(b, byte(slices.Index(w.jobs, x.Op.(*job)))) }
	b = append(b, 's', byte(s.gen), flag(s.alive))
	s.wait.Each(name)
	if s.extra != nil {
		s.extra.subs.Each(func(r int) { b = append(b, 'r', byte(r)) })
		for _, q := range s.extra.questions {
			b = append(b, 'l', byte(q.gen), byte(q.rank))
		}
		b = s.extra.poisoned.Append(b)
	}
	for i := range s.at {
		r := &s.at[i]
		b = append(b, '|', byte(r.gen), flag(r.dead != nil), byte(r.first.gen))
		r.first.wait.Each(name)
		for k := range r.more {
			b = append(b, 'p', byte(r.more[k].gen))
			r.more[k].wait.Each(name)
		}
		for _, o := range r.own {
			b = appendWhy(append(b, 'o', byte(o.from), byte(o.to)), o.why)
		}
		b = r.poisoned.Append(b)
	}
	for _, t := range s.truth {
		b = append(b, 't', flag(t.triggered), byte(t.messages), byte(t.forgotten), flag(t.lost), byte(t.late))
		b = binary.LittleEndian.AppendUint64(b, t.parties)
		b = binary.LittleEndian.AppendUint64(b, t.told)
		b = appendWhy(b, t.why)
	}
	return b
}

// step makes an act. The event is a slot and a generation, such as a1.
func step(do string, rank int, event string, of ...string) act {
	e := parseEvent(event)
	a := act{do: do, rank: rank, slot: e.slot, gen: e.gen}
	for _, o := range of {
		a.of = append(a.of, parseEvent(o))
	}
	return a
}

func parseEvent(s string) simEvent { return simEvent{int(s[0] - 'a'), uint32(s[1] - '0')} }

// worlds are small systems of three ranks. states is the most that each may have.
var worlds = []struct {
	name   string
	states int
	owners []int
	script [][]act
}{
	{"one event, the owner triggers", 10_000, []int{0}, [][]act{
		{step("create", 0, "a1"), step("wait", 0, "a1"), step("trigger", 0, "a1")},
		{step("wait", 1, "a1"), step("wait", 1, "a1")},
		{step("wait", 2, "a1"), step("withdraw", 2, "a1"), step("wait", 2, "a1")},
	}},
	{"one event, a subscriber poisons", 10_000, []int{0}, [][]act{
		{step("create", 0, "a1"), step("wait", 0, "a1")},
		{step("wait", 1, "a1"), step("poison", 1, "a1")},
		{step("wait", 1, "a1")},
		{step("wait", 2, "a1"), step("wait", 2, "a1")},
	}},
	{"one event, a stranger triggers", 10_000, []int{0}, [][]act{
		{step("create", 0, "a1"), step("wait", 0, "a1")},
		{step("trigger", 1, "a1")},
		{step("wait", 2, "a1")},
	}},
	{"three generations, each rank triggers one", 40_000, []int{0}, [][]act{
		{step("create", 0, "a1"), step("create", 0, "a2"), step("trigger", 0, "a2"), step("create", 0, "a3")},
		{step("wait", 1, "a1"), step("trigger", 1, "a1"), step("wait", 1, "a2"), step("wait", 1, "a3")},
		{step("wait", 2, "a1"), step("poison", 2, "a3"), step("wait", 2, "a3"), step("wait", 2, "a2")},
	}},
	{"poisoned, triggered, poisoned by one rank", 15_000, []int{0}, [][]act{
		{step("create", 0, "a1"), step("create", 0, "a2"), step("create", 0, "a3"), step("wait", 0, "a3")},
		{step("poison", 1, "a1"), step("trigger", 1, "a2"), step("poison", 1, "a3")},
		{step("wait", 1, "a1"), step("wait", 1, "a2")},
		{step("wait", 2, "a1"), step("wait", 2, "a3")},
	}},
	{"subscriptions that triggers overtake", 10_000, []int{0}, [][]act{
		{step("create", 0, "a1"), step("create", 0, "a2"), step("create", 0, "a3"), step("trigger", 0, "a3")},
		{step("wait", 1, "a1"), step("trigger", 1, "a1"), step("wait", 1, "a2"), step("wait", 1, "a3")},
		{step("wait", 2, "a2"), step("poison", 2, "a2"), step("wait", 2, "a1")},
	}},
	{"a merge of two ranks on the third", 10_000, []int{0, 1, 2}, [][]act{
		{step("create", 0, "a1"), step("wait", 0, "c1"), step("poison", 0, "b1")},
		{step("create", 1, "b1"), step("wait", 1, "c1"), step("trigger", 1, "a1")},
		{step("create", 2, "c1"), step("merge", 2, "c1", "a1", "b1"), step("wait", 2, "c1")},
	}},
	{"a chain of merges over two generations", 10_000, []int{0, 1}, [][]act{
		{step("create", 0, "a1"), step("create", 0, "a2"), step("merge", 0, "a2", "b1", "b1")},
		{step("create", 1, "b1"), step("merge", 1, "b1", "a1"), step("create", 1, "b2"), step("merge", 1, "b2", "a2")},
		{step("trigger", 2, "a1"), step("wait", 2, "b2"), step("wait", 2, "a1")},
	}},
	{"a rank forgets what it has triggered, and asks again", 10_000, []int{0}, [][]act{
		{step("create", 0, "a1"), step("create", 0, "a2"), step("wait", 0, "a1")},
		{step("wait", 1, "a1"), step("trigger", 1, "a1"), step("forget", 1, "a1"), step("wait", 1, "a1")},
		{step("poison", 2, "a2"), step("forget", 2, "a2"), step("wait", 2, "a2"), step("wait", 2, "a1")},
	}},
	{"ranks forget between generations", 40_000, []int{0}, [][]act{
		{step("create", 0, "a1"), step("create", 0, "a2"), step("trigger", 0, "a2")},
		{
			step("wait", 1, "a1"), step("forget", 1, "a1"), step("wait", 1, "a2"), step("forget", 1, "a1"),
			step("wait", 1, "a1"),
		},
		{
			step("wait", 2, "a1"), step("poison", 2, "a1"), step("wait", 2, "a2"), step("forget", 2, "a1"),
			step("wait", 2, "a1"),
		},
	}},
	{"a rank forgets, and dies", 40_000, []int{0}, [][]act{
		{step("create", 0, "a1"), step("create", 0, "a2"), step("wait", 0, "a2")},
		{
			step("wait", 1, "a1"), step("trigger", 1, "a1"), step("forget", 1, "a1"), step("wait", 1, "a1"),
			step("vanish", 1, "a1"),
		},
		{step("wait", 2, "a1"), step("trigger", 2, "a2"), step("forget", 2, "a1"), step("wait", 2, "a1")},
	}},
	{"the owner forgets, and ranks ask late", 40_000, []int{0}, [][]act{
		{step("create", 0, "a1"), step("lose", 0, "a1"), step("create", 0, "a2"), step("wait", 0, "a1")},
		{step("wait", 1, "a1"), step("trigger", 1, "a1"), step("wait", 1, "a2"), step("trigger", 1, "a2")},
		{step("wait", 2, "a1"), step("wait", 2, "a2"), step("wait", 2, "a1")},
	}},
	{"the owner forgets poisons, and ranks forget, too", 40_000, []int{0}, [][]act{
		{step("create", 0, "a1"), step("lose", 0, "a1"), step("create", 0, "a2"), step("lose", 0, "a2")},
		{
			step("wait", 1, "a1"), step("poison", 1, "a1"), step("wait", 1, "a2"), step("forget", 1, "a1"),
			step("wait", 1, "a1"),
		},
		{step("wait", 2, "a1"), step("poison", 2, "a2"), step("wait", 2, "a1"), step("wait", 2, "a2")},
	}},
	{"the owner forgets twice, and updates overtake each other", 100_000, []int{0}, [][]act{
		{
			step("create", 0, "a1"), step("trigger", 0, "a1"), step("create", 0, "a2"), step("poison", 0, "a2"),
			step("lose", 0, "a2"), step("create", 0, "a3"), step("trigger", 0, "a3"), step("lose", 0, "a3"),
		},
		{step("wait", 1, "a1"), step("wait", 1, "a3")},
		{step("wait", 2, "a2")},
	}},
	{"the owner dies, and a rank has forgotten", 10_000, []int{0}, [][]act{
		{step("create", 0, "a1"), step("wait", 0, "a1"), step("vanish", 0, "a1")},
		{step("wait", 1, "a1"), step("trigger", 1, "a1"), step("forget", 1, "a1"), step("wait", 1, "a1")},
		{step("wait", 2, "a1"), step("forget", 2, "a1"), step("wait", 2, "a1")},
	}},
	{"the owner dies", 10_000, []int{0}, [][]act{
		{step("create", 0, "a1"), step("create", 0, "a2"), step("wait", 0, "a1"), step("die", 0, "a1")},
		{step("wait", 1, "a1"), step("trigger", 1, "a1"), step("wait", 1, "a2")},
		{step("wait", 2, "a1"), step("poison", 2, "a2"), step("wait", 2, "a2")},
	}},
	{"the owner dies, and what it has sent is lost", 10_000, []int{0}, [][]act{
		{step("create", 0, "a1"), step("create", 0, "a2"), step("wait", 0, "a1"), step("vanish", 0, "a1")},
		{step("wait", 1, "a1"), step("trigger", 1, "a1"), step("wait", 1, "a2")},
		{step("wait", 2, "a1"), step("poison", 2, "a2"), step("wait", 2, "a2")},
	}},
	{"the rank that is to trigger dies, and what it has sent is lost", 10_000, []int{0}, [][]act{
		{step("create", 0, "a1"), step("wait", 0, "a1")},
		{step("wait", 1, "a1"), step("trigger", 1, "a1")},
		{step("vanish", 1, "a1")},
		{step("wait", 2, "a1"), step("wait", 2, "a1")},
	}},
	{"a subscriber dies", 10_000, []int{0}, [][]act{
		{step("create", 0, "a1"), step("create", 0, "a2"), step("wait", 0, "a2")},
		{step("wait", 1, "a1"), step("wait", 1, "a2"), step("die", 1, "a1")},
		{step("wait", 2, "a1"), step("trigger", 2, "a1"), step("poison", 2, "a2")},
	}},
}

// TestAllOrders runs the worlds through every order of their steps and messages.
func TestAllOrders(t *testing.T) {
	for _, c := range worlds {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.states > 10_000 {
				t.Skip("a large world, left out with -short")
			}
			began := time.Now()
			r, err := explore.All(newSimWorld(3, c.owners, c.script...), c.states)
			if err != nil {
				t.Error(err)
			}
			t.Logf("%d states, %d at rest, %v", r.States, r.Rests, time.Since(began))
		})
	}
}
