package reservation

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/golci/golci/internal/test/explore"
	"github.com/golci/golci/realm/internal/event"
)

// world is a job with one reservation: the locks of its ranks, the messages between them in no order, and users. It
// knows who holds the lock, and finds what contradicts that.
type world struct {
	plan
	locks   []*Lock
	next    []int // of plan.acquires
	wires   []wire
	holds   []hold
	count   uint64 // what the payload must be
	fault   error
	refused []string // acquires
	errs    int      // releases that were wrong
	ended   bool
	dead    []bool   // ranks
	told    [][]bool // which rank knows of whose death
	fatal   bool     // the lock may be lost with it
	stuck   bool     // the rank that was to release a hold of another has died
	mixed   bool     // a rank with a hold has released that of another, and the owner cannot tell
	streak  int      // grants in a row to one rank while another was in the owner's set
	last    [2]int   // that rank, and the epoch
	fired   []event.Op
	sent    []Message
	grants  int
}

// plan is what may happen in a world.
type plan struct {
	home     int
	turns    int
	carry    int
	acquires [][]Mode // by rank
	foreign  bool     // holds are released on another rank
	destroys int      // the rank that may destroy, or -1
	dies     []int    // ranks that may die
	once     bool     // a rank acquires only when it has nothing
}

type wire struct {
	from int
	m    Message
}

// hold is one that has been granted.
type hold struct {
	user
	saw uint64
}

type user struct {
	rank, number int
	mode         Mode
}

func (u user) Fire(*event.Waiter, any) {}

func (u user) String() string { return fmt.Sprintf("%d.%d", u.rank, u.number) }

func newWorld(p plan) *world {
	n := len(p.acquires)
	w := &world{plan: p, dead: make([]bool, n), next: make([]int, n)}
	for r := range p.acquires {
		w.told = append(w.told, make([]bool, n))
		w.locks = append(w.locks, New(Config{
			ID: event.MakeReservation(p.home, 7), Self: int32(r), Ranks: len(p.acquires), Carry: p.carry,
			Turns:   p.turns,
			Payload: make([]byte, 8),
		}))
	}
	return w
}

func (w *world) fail(format string, args ...any) {
	if w.fault == nil {
		w.fault = fmt.Errorf(format, args...)
	}
}

// input has one rank take an input and does what it asks for.
func (w *world) input(rank int, do func(l *Lock, out *Out)) {
	l := w.locks[rank]
	waits := l.owned && len(l.set) > 0
	var out Out
	do(l, &out)
	for _, m := range out.Send {
		m.Wants, m.Payload = slices.Clone(m.Wants), slices.Clone(m.Payload)
		w.send(rank, m)
	}
	for v := out.Fire.Pop(); v != nil; v = out.Fire.Pop() {
		w.fired = append(w.fired, v.Op)
		u := v.Op.(user)
		if v.Poison != nil {
			w.refuse(u, v.Poison)
		} else {
			w.bound(rank, waits)
			w.granted(u)
		}
	}
	if out.Err != nil {
		w.errs++
	}
}

func (w *world) send(from int, m Message) {
	if m.Kind == Transfer && len(m.Wants) > w.carry {
		w.fail("a transfer carries %d", len(m.Wants))
	}
	if int(m.To) == from {
		w.fail("rank %d sends %d to itself", from, m.Kind)
	}
	if w.told[from][m.To] {
		w.fail("rank %d sends %d to the dead", from, m.Kind)
	}
	w.sent = append(w.sent, m)
	if w.dead[m.To] {
		w.fatal = w.fatal || m.Kind == Transfer || m.Kind == Grant
		return
	}
	w.wires = append(w.wires, wire{from, m})
}

// bound counts the exclusive grants in a row on one rank while another waits.
func (w *world) bound(rank int, waits bool) {
	l := w.locks[rank]
	at := [2]int{rank, int(l.hint.Epoch)}
	if !waits || l.mode != Exclusive || at != w.last {
		w.streak, w.last = 0, at
	}
	if waits {
		w.streak++
	}
	if w.streak > w.locks[rank].Turns {
		w.fail("%d grants in a row on rank %d while another waits", w.streak, rank)
	}
}

func (w *world) granted(u user) {
	w.grants++
	for _, h := range w.holds {
		if u.mode == Exclusive || h.mode != u.mode {
			w.fail("%v and %v hold the lock in modes %d and %d", h, u, h.mode, u.mode)
		}
	}
	l := w.locks[u.rank]
	saw := binary.LittleEndian.Uint64(l.Payload)
	if saw != w.count {
		w.fail("%v sees payload %d of %d", u, saw, w.count)
	}
	if !l.Held() {
		w.fail("%v holds the lock and its rank does not know", u)
	}
	w.holds = append(w.holds, hold{u, saw})
}

func (w *world) refuse(u user, p *event.Poison) {
	if !IsRefusal(w.locks[0].ID, p) {
		w.fail("%v is refused because of %q", u, p.Text)
	}
	w.refused = append(w.refused, u.String())
}

func (w *world) acquire(rank int, m Mode) {
	u := user{rank, w.next[rank], m}
	w.next[rank]++
	w.input(rank, func(l *Lock, out *Out) {
		if l.Acquire(&event.Waiter{Op: u}, m, out) {
			w.granted(u)
		}
	})
}

// release ends the hold with that index, by a call on rank at.
func (w *world) release(i, at int) {
	h := w.holds[i]
	l := w.locks[h.rank]
	if got := binary.LittleEndian.Uint64(l.Payload); got != h.saw {
		w.fail("the payload of %v changes from %d to %d", h, h.saw, got)
	}
	w.holds = slices.Delete(w.holds, i, i+1)
	w.mixed = w.mixed || at != h.rank && (w.locks[at].localHolds > 0 || w.locks[h.rank].localHolds > 0)
	if h.mode == Exclusive {
		w.count++
		binary.LittleEndian.PutUint64(l.Payload, w.count)
	}
	w.input(at, func(l *Lock, out *Out) {
		if err := l.Release(out); err != nil {
			w.fail("release of %v on %d: %v", h, at, err)
		}
	})
}

func (w *world) deliver(i int) {
	x := w.wires[i]
	w.wires = slices.Delete(w.wires, i, i+1)
	w.input(int(x.m.To), func(l *Lock, out *Out) { l.Handle(x.m, out) })
}

func (w *world) die(rank int) {
	w.dead[rank] = true
	w.stuck = w.stuck || w.mixed
	l := w.locks[rank]
	w.fatal = w.fatal || l.owned || rank == w.home || l.localHolds > 0
	w.holds = slices.DeleteFunc(w.holds,
		func(h hold) bool { w.fatal = w.fatal || h.rank == rank; return h.rank == rank })
	w.wires = slices.DeleteFunc(w.wires, func(x wire) bool {
		to := int(x.m.To) == rank
		w.fatal = w.fatal || to && (x.m.Kind == Transfer || x.m.Kind == Grant)
		return to
	})
}

// lose: a message of the rank that has died does not arrive.
func (w *world) lose(i int) {
	k := w.wires[i].m.Kind
	w.fatal = w.fatal || k == Transfer || k == Moved || k == Release
	w.stuck = w.stuck || k == Release && w.foreign
	w.wires = slices.Delete(w.wires, i, i+1)
}

// tell has rank know that dead has died.
func (w *world) tell(rank, dead int) {
	w.told[rank][dead] = true
	w.fatal = w.fatal || w.locks[rank].unsure > 0
	w.input(rank, func(l *Lock, out *Out) { l.PeerGone(int32(dead), out) })
}

// step is one thing that can happen.
type step struct {
	name string
	do   func(w *world)
}

func (w *world) steps() (all []step) {
	add := func(do func(w *world), format string, args ...any) {
		all = append(all, step{fmt.Sprintf(format, args...), do})
	}
	for r, modes := range w.acquires {
		if !w.dead[r] && w.next[r] < len(modes) && (!w.once || !w.busy(r)) {
			add(func(w *world) { w.acquire(r, modes[w.next[r]]) }, "acquire %d mode %d", r, modes[w.next[r]])
		}
	}
	for i, h := range w.holds {
		at := h.rank
		if w.foreign {
			at = (h.rank + 1) % len(w.locks)
		}
		if !w.dead[at] {
			add(func(w *world) { w.release(i, at) }, "release %v on %d", h.user, at)
		}
	}
	seen := make(map[string]bool)
	for i, x := range w.wires {
		name := fmt.Sprintf("%d to %d: %s", x.from, x.m.To, describe(x.m))
		if seen[name] {
			continue
		}
		seen[name] = true
		add(func(w *world) { w.deliver(i) }, "%s", name)
		if w.dead[x.from] {
			add(func(w *world) { w.lose(i) }, "lose %s", name)
		}
	}
	if w.destroys >= 0 && !w.ended && !w.dead[w.destroys] {
		add(func(w *world) {
			w.ended = true
			w.input(w.destroys, func(l *Lock, out *Out) { l.Destroy(out) })
		}, "destroy on %d", w.destroys)
	}
	for _, d := range w.dies {
		if !w.dead[d] {
			add(func(w *world) { w.die(d) }, "die %d", d)
		} else {
			w.news(d, add)
		}
	}
	return all
}

// news adds the steps in which ranks are told that dead has died.
func (w *world) news(dead int, add func(do func(w *world), format string, args ...any)) {
	for r := range w.locks {
		sent := func(x wire) bool { return x.from == dead && int(x.m.To) == r }
		if !w.dead[r] && !w.told[r][dead] && !slices.ContainsFunc(w.wires, sent) {
			add(func(w *world) { w.tell(r, dead) }, "tell %d of %d", r, dead)
		}
	}
}

// busy tells whether a user of the rank waits or holds.
func (w *world) busy(rank int) bool {
	return !w.locks[rank].queue.isEmpty() || slices.ContainsFunc(w.holds, func(h hold) bool { return h.rank == rank })
}

func (w *world) Steps() (names []string) {
	for _, s := range w.steps() {
		names = append(names, s.name)
	}
	return names
}

func (w *world) Do(i int) {
	w.fired, w.sent = nil, nil
	w.steps()[i].do(w)
}

var errLost = errors.New("a waiter is lost")

func (w *world) Check(rest bool) error {
	if w.fault != nil || !rest || w.stuck || len(w.holds) > 0 {
		return w.fault
	}
	owners := 0
	for r, l := range w.locks {
		if w.dead[r] {
			continue
		}
		if !l.queue.isEmpty() || len(l.set) > 0 || len(l.kept) > 0 {
			return fmt.Errorf("%w: rank %d rests with %s", errLost, r, state(l))
		}
		if l.owned {
			owners++
			if l.dead == nil && (!l.idle || l.holders > 0) {
				return fmt.Errorf("rank %d owns a lock that is not free: %s", r, state(l))
			}
		}
	}
	if w.errs > 0 {
		return fmt.Errorf("%d releases are wrong", w.errs)
	}
	if !w.ended && !w.fatal {
		if owners != 1 || len(w.refused) > 0 {
			return fmt.Errorf("%d owners, refused %v", owners, w.refused)
		}
	}
	return nil
}

func (w *world) Clone() explore.World {
	c := *w
	c.locks = make([]*Lock, len(w.locks))
	for i, l := range w.locks {
		c.locks[i] = cloneLock(l)
	}
	c.next, c.wires, c.holds = slices.Clone(w.next), slices.Clone(w.wires), slices.Clone(w.holds)
	c.dead, c.refused = slices.Clone(w.dead), slices.Clone(w.refused)
	c.told = make([][]bool, len(w.told))
	for i, told := range w.told {
		c.told[i] = slices.Clone(told)
	}
	return &c
}

func cloneLock(l *Lock) *Lock {
	c := *l
	c.set, c.sharers, c.kept = slices.Clone(l.set), slices.Clone(l.sharers), slices.Clone(l.kept)
	c.Gone, c.Payload = slices.Clone(l.Gone), slices.Clone(l.Payload)
	c.queue = queue{}
	each(l, func(v *event.Waiter, m Mode) { c.queue.pushWaiter(&event.Waiter{Op: v.Op}, m) })
	return &c
}

// each calls f with the local waiters.
func each(l *Lock, f func(v *event.Waiter, m Mode)) {
	for _, r := range l.queue.runs[l.queue.first:] {
		r.list.Each(func(v *event.Waiter) { f(v, r.mode) })
	}
}

func (w *world) Key() string {
	var b strings.Builder
	for _, l := range w.locks {
		fmt.Fprintln(&b, state(l))
	}
	var wires []string
	for _, x := range w.wires {
		wires = append(wires, fmt.Sprint(x.from, x.m))
	}
	slices.Sort(wires)
	fmt.Fprint(&b, w.next, wires, w.holds, w.count, w.fault, w.ended, w.dead,
		w.told, w.fatal, w.stuck, w.mixed, w.streak, w.last, w.errs, len(w.refused))
	return b.String()
}

func state(l *Lock) string {
	var b strings.Builder
	fmt.Fprint(&b, l.idle, l.owned, l.mode, l.holders, l.version, l.set, l.localGrants, l.localHolds, l.asked,
		l.unsure, l.ending, l.hint, l.awaited, l.sharers, l.kept, l.Gone, l.cause, l.Payload)
	each(l, func(v *event.Waiter, m Mode) { fmt.Fprint(&b, " ", v.Op, "/", m) })
	return b.String()
}

var kindNames = map[Kind]string{
	Request: "request", Release: "release", End: "end", Transfer: "transfer", Grant: "grant", Moved: "moved",
	Refused:  "refused",
	Released: "released", Unheld: "unheld",
}

func describe(m Message) string {
	s := kindNames[m.Kind]
	switch m.Kind {
	case Request, Release, End:
		s += fmt.Sprintf(" of %d", m.Want.Rank)
	case Transfer:
		s += fmt.Sprintf(" epoch %d", m.Hint.Epoch)
		for _, w := range m.Wants {
			s += fmt.Sprintf(", %d waits", w.Rank)
		}
	case Moved:
		s += fmt.Sprintf(" epoch %d to %d", m.Hint.Epoch, m.Hint.Owner)
	case Grant:
		s += fmt.Sprintf(" of %d", m.Want.N)
	case Refused:
		s += " because " + fmt.Sprintf(reasons[m.Cause.Why], m.Cause.Rank)
	}
	if m.Kind == Request || m.Kind == Release {
		s += fmt.Sprintf(" (%d, mode %d, epoch %d", m.Want.N, m.Want.Mode, m.Hint.Epoch)
		if m.Deaths > 0 {
			s += fmt.Sprintf(", %d deaths", m.Deaths)
		}
		s += ")"
	}
	return s
}
