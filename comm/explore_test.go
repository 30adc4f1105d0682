package comm

import (
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/golci/golci/comm/internal/match"
	"github.com/golci/golci/internal/platform/invariants"
)

// The explorer runs the threads of a small program one at a time, as coroutines. It changes between them wherever the
// matching takes a lock or looks at the table, in every order there is. A sequential model of MPI's matching checks
// each result. There must be an order of the operations in which the model gives the same results. In that order an
// operation that ended before another began comes first. So receives of one thread are matched in the order of posting,
// and messages of one source in the order of sending. A probe tells the truth.

// verb is what an operation does.
type verb byte

const (
	doPost verb = iota
	doProbe
	doImprobe
	doCancel // of the first receive of the thread
	doArrive
)

// act is an operation of a program.
type act struct {
	do verb
	p  match.Pattern // unused by doCancel
}

func (a act) String() string {
	names := [...]string{"post", "iprobe", "improbe", "cancel", "arrive"}
	if a.do == doCancel {
		return names[a.do]
	}
	return fmt.Sprintf("%s(%s,%s)", names[a.do], orAny(int(a.p.Source)), orAny(int(a.p.Tag)))
}

// event is an operation that was done: number 1, 2, … of its program.
type event struct {
	act
	id, first int // its number; of a cancellation, the number of the receive
	call, ret int // times
	got       int // number of the message or receive that it got or told of, 0 for none; of a cancellation, 1 if it succeeded
}

func (e event) String() string {
	return fmt.Sprintf("#%d %v in %d..%d: %d", e.id, e.act, e.call, e.ret, e.got)
}

// explored is one program, and its run under one schedule.
type explored struct {
	s       *subject
	threads [][]act // the last is the poller, whose acts are arrivals

	running func(func() bool) bool // yield of the thread that runs
	now     int
	events  []event
	ops     [16]*op // by the number of the operation

	schedule []int // choices made so far
	options  []int // how many there were at each
	runs     int
	steps    int
}

// thread runs the acts of one thread; numbers count from first.
func (x *explored) thread(acts []act, first int) iter.Seq[func() bool] {
	return func(yield func(func() bool) bool) {
		var receives []*op
		for i, a := range acts {
			if i > 0 {
				yield(nil)
			}
			x.running = yield
			e := event{act: a, id: first + i, call: x.now}
			e.got = x.do(&e, &receives)
			e.ret = x.now
			x.events = append(x.events, e)
		}
	}
}

func (x *explored) do(e *event, receives *[]*op) int {
	switch e.do {
	case doPost:
		o := x.op(e.id, e.p, roleRecv)
		o.recv.posted, o.wild = e.p, e.p.Wild()
		*receives = append(*receives, o)
		return numberOf(x.s.post(o))
	case doArrive:
		u := x.op(e.id, e.p, roleEager)
		u.msg.stamp = uint64(e.id)
		return numberOf(x.s.arrive(u))
	case doProbe:
		size, _ := x.s.probe(e.p)
		return int(size)
	case doImprobe:
		return numberOf(x.s.improbe(e.p))
	}
	if len(*receives) == 0 {
		return 0
	}
	o := (*receives)[0]
	if e.first = numberOf(o); x.s.cancel(o) {
		return 1
	}
	return 0
}

// op gives the op of an operation; its size is its number.
func (x *explored) op(id int, p match.Pattern, r role) *op {
	switch {
	case x.ops[id] != nil:
	case r == roleRecv:
		x.ops[id] = newReceive(nil)
	default:
		x.ops[id] = newMessage(nil)
	}
	o := x.ops[id]
	o.startUse(r, exploredContext, p.Source, p.Tag, nil)
	o.size = int64(id)
	return o
}

func numberOf(o *op) int {
	if o == nil {
		return 0
	}
	return int(o.size)
}

// run runs the program under the schedule, and as it comes beyond it.
func (x *explored) run() {
	x.s.reset()
	x.now, x.events, x.options = 0, x.events[:0], x.options[:0]
	n := len(x.threads)
	next := make([]func() (func() bool, bool), n)
	ready := make([]func() bool, n)
	var live []int
	first := 1
	for i, acts := range x.threads {
		var stop func()
		next[i], stop = iter.Pull(x.thread(acts, first))
		defer stop()
		first += len(acts)
		live = append(live, i)
	}
	x.s.pause = func(r func() bool) { x.running(r) }
	yields := make([]func(func() bool) bool, n)
	for len(live) > 0 {
		k := live[x.choose(live, ready)]
		x.now++
		x.steps++
		x.running = yields[k]
		r, alive := next[k]()
		yields[k], ready[k] = x.running, r
		if !alive {
			live = without(live, k)
		}
	}
	x.runs++
}

// choose gives the index in live of the thread that goes on: one that can.
func (x *explored) choose(live []int, ready []func() bool) int {
	var able [8]int
	n := 0
	for i, k := range live {
		if ready[k] == nil || ready[k]() {
			able[n] = i
			n++
		}
	}
	if n == 0 {
		panic("all threads wait for a lock")
	}
	if n == 1 {
		return able[0]
	}
	at := len(x.options)
	x.options = append(x.options, n)
	if at == len(x.schedule) {
		x.schedule = append(x.schedule, 0)
	}
	return able[x.schedule[at]]
}

func without(list []int, v int) []int {
	out := list[:0]
	for _, w := range list {
		if w != v {
			out = append(out, w)
		}
	}
	return out
}

// more makes the next schedule; false after the last.
func (x *explored) more() bool {
	x.schedule = x.schedule[:len(x.options)]
	for i := len(x.schedule) - 1; i >= 0; i-- {
		if x.schedule[i]++; x.schedule[i] < x.options[i] {
			x.schedule = x.schedule[:i+1]
			return true
		}
	}
	return false
}

// explore runs the program under every schedule and returns the first run that no order explains.
func (x *explored) explore() error {
	for {
		x.run()
		if !explained(x.events) {
			return x.failure()
		}
		if !x.more() {
			return nil
		}
	}
}

func (x *explored) failure() error {
	var b strings.Builder
	fmt.Fprintf(&b, "no order of the operations explains schedule %v (plain after %d) of %v:",
		x.schedule, x.s.m.plainAfter, x.threads)
	for _, e := range x.events {
		fmt.Fprintf(&b, "\n  %v", e)
	}
	return fmt.Errorf("%s", b.String())
}

// sequential is the model: what waits, oldest first, by number.
type sequential struct{ posts, messages []event }

func accepts(p, m match.Pattern) bool {
	return (p.Source == AnySource || p.Source == m.Source) && (p.Tag == AnyTag || p.Tag == m.Tag)
}

// do gives the result of e and the state after it.
func (q sequential) do(e event) (int, sequential) {
	switch e.do {
	case doArrive:
		for i, r := range q.posts {
			if accepts(r.p, e.p) {
				return r.id, sequential{drop(q.posts, i), q.messages}
			}
		}
		return 0, sequential{q.posts, add(q.messages, e)}
	case doCancel:
		for i, r := range q.posts {
			if r.id == e.first {
				return 1, sequential{drop(q.posts, i), q.messages}
			}
		}
		return 0, q
	}
	for i, m := range q.messages {
		if accepts(e.p, m.p) {
			if e.do == doProbe {
				return m.id, q
			}
			return m.id, sequential{q.posts, drop(q.messages, i)}
		}
	}
	if e.do == doPost {
		q.posts = add(q.posts, e)
	}
	return 0, q
}

func drop(l []event, i int) []event  { return append(append([]event(nil), l[:i]...), l[i+1:]...) }
func add(l []event, e event) []event { return append(l[:len(l):len(l)], e) }

// explained reports whether the model gives the results of events in some order that keeps to their times.
func explained(events []event) bool { return explains(sequential{}, events, 0) }

func explains(q sequential, events []event, done uint) bool {
	if done == 1<<len(events)-1 {
		return true
	}
	for i, e := range events {
		if done>>i&1 != 0 || !mayBeNext(events, done, e) {
			continue
		}
		if got, after := q.do(e); got == e.got && explains(after, events, done|1<<i) {
			return true
		}
	}
	return false
}

// mayBeNext reports whether no other operation that is left ended before e began.
func mayBeNext(events []event, done uint, e event) bool {
	for i, f := range events {
		if done>>i&1 == 0 && f.ret < e.call {
			return false
		}
	}
	return true
}

// alphabet is what threads do in the programs explored.
func alphabet() (all []act) {
	one := match.Pattern{Source: 0, Tag: 0}
	source, tag, any := match.Pattern{Source: AnySource, Tag: 0}, match.Pattern{Source: 0, Tag: AnyTag}, match.Pattern{Source: AnySource, Tag: AnyTag}
	for _, p := range []match.Pattern{one, source, tag, any} {
		all = append(all, act{doPost, p})
	}
	for _, p := range []match.Pattern{one, source} {
		all = append(all, act{doProbe, p}, act{doImprobe, p})
	}
	return append(all, act{do: doCancel})
}

// words gives all programs of n acts of those given.
func words(n int, acts []act) [][]act {
	if n == 0 {
		return [][]act{nil}
	}
	var all [][]act
	for _, w := range words(n-1, acts) {
		for _, a := range acts {
			all = append(all, append(w[:len(w):len(w)], a))
		}
	}
	return all
}

// arrivals are what the poller brings: messages of one pair, of two sources, of two tags.
func arrivals() [][]match.Pattern {
	m := func(src, tag int32) match.Pattern { return match.Pattern{Source: src, Tag: tag} }
	return [][]match.Pattern{
		{m(0, 0), m(0, 0)},
		{m(1, 0), m(0, 0)},
		{m(0, 1), m(0, 0)},
	}
}

// size of an exploration.
type size int

const (
	small  size = iota // some 200,000 schedules
	medium             // some 2 million
	large              // 17 million
)

var explored17Million = flag.Bool("explore.all", false, "explore all programs, which takes some minutes")

func explorationSize() size {
	switch {
	case *explored17Million:
		return large
	case testing.Short() || invariants.Enabled:
		return small
	}
	return medium
}

// programs gives what the threads beside the poller do: a thread with up to three operations, two threads with one
// each, or with one and two receives. The smaller sizes leave out some operations where there are many.
func programs(z size) (all [][][]act) {
	acts := alphabet()
	posts := acts[:4]
	few := []act{posts[0], posts[1], posts[3], {doProbe, posts[0].p}, {do: doCancel}}
	of := func(choices ...[]act) []act { return choices[z] }
	one, pair := [][][]act{words(1, acts), words(2, acts), words(3, of(nil, few, acts))}, of(posts, acts, acts)
	for _, ws := range one {
		for _, w := range ws {
			all = append(all, [][]act{w})
		}
	}
	two := append(words(1, pair), words(2, of(nil, posts[:2], posts))...)
	for _, b := range two {
		first := pair
		if len(b) > 1 {
			first = of(nil, posts[:2], posts)
		}
		for _, a := range words(1, first) {
			all = append(all, [][]act{a, b})
		}
	}
	return all
}

// TestInterleavings explores programs while two messages come. Some contexts go back to the table after few quiet
// operations. So both ways of matching run, and the changes between them.
func TestInterleavings(t *testing.T) {
	z := explorationSize()
	calms := []int{1, 1 << 20}
	if z == large {
		calms = append(calms, 0)
	}
	stride := map[size]int{small: 1, medium: 4, large: 1}[z]
	if invariants.Race {
		stride = 16 // coroutines wait for each other, so that the race detector has little to find
	}
	first := rand.IntN(stride)
	t.Logf("every %d. program is explored, from number %d; -explore.all has all", stride, first)
	count, runs, steps := 0, 0, 0
	for _, messages := range arrivals() {
		var poller []act
		for _, p := range messages {
			poller = append(poller, act{doArrive, p})
		}
		for _, calm := range calms {
			s := newSubject(calm, messages)
			for i, threads := range programs(z) {
				if i%stride != first {
					continue
				}
				x := &explored{s: s, threads: append(threads, poller)}
				if err := x.explore(); err != nil {
					t.Fatal(err)
				}
				count++
				runs += x.runs
				steps += x.steps
			}
		}
	}
	t.Logf("%d programs, %d schedules, %d steps", count, runs, steps)
}
