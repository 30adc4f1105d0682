package barrier

import (
	"encoding/binary"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/realm/internal/event"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sum is the operator of the tests: it adds numbers of 64 bits.
type sum struct{}

func (sum) Fold(to, v []byte) error {
	binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(to)+binary.LittleEndian.Uint64(v))
	return nil
}

func number(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

func value(p []byte) uint64 {
	if p == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(p)
}

// mark says where a waiter waits.
type mark struct {
	rank  int
	phase uint64
}

func (mark) Fire(*event.Waiter, any) {}

// wire is a message under way.
type wire struct {
	m    Message
	from int32 // the rank that has sent it, or has passed it on
	text string
}

// job is one barrier on some ranks, and the messages between them. A rank may die: what it has sent may be lost, and
// the others are told of it when nothing of it is under way to them.
type job struct {
	id    event.ID
	bs    []*Barrier
	wires []wire
	dead  []bool
	told  []ranks // of each rank: of whose death it has been told
	ends  []bool  // ranks that have forgotten the barrier, and know that it was destroyed
	gone  []bool  // ranks that have forgotten it, and have not heard of it since
	fired map[mark]string
	sent  int
	errs  []string
}

func newJob(t testing.TB, n int, count int64) *job {
	j := &job{
		id: event.MakeBarrier(0, 5, 0), dead: make([]bool, n), told: make([]ranks, n),
		ends: make([]bool, n), gone: make([]bool, n),
		fired: make(map[mark]string),
	}
	for r := range n {
		c := j.config(r)
		if r > 0 {
			j.bs = append(j.bs, NewReplica(c))
			continue
		}
		b, err := New(c, count, 7, 8)
		if err != nil {
			t.Fatal(err)
		}
		j.bs = append(j.bs, b)
	}
	return j
}

// begin has the job begin at a phase, which only the owner knows.
func (j *job) begin(phase uint64) {
	b := j.bs[0]
	b.known, b.newest = phase-1, phase-1
	b.own.open[0].num = phase
}

func (j *job) config(r int) Config {
	return Config{Self: int32(r), ID: j.id, Size: len(j.dead), Ops: func(n uint32) Op {
		if n != 7 {
			return nil
		}
		return sum{}
	}, Dead: func(x int32) *event.Poison {
		if !j.told[r].hasRank(x) {
			return nil
		}
		return &event.Poison{Rank: x, Text: fmt.Sprintf("rank %d has died", x)}
	}}
}

// act calls f on a rank and takes what comes out.
func (j *job) act(r int, f func(b *Barrier, o *Out)) {
	var o Out
	if j.gone[r] && !j.ends[r] { // else the rank knows
		j.gone[r], j.bs[r] = false, NewReplica(j.config(r))
	}
	if f(j.bs[r], &o); j.bs[r].Done() {
		j.gone[r], j.ends[r] = true, j.ends[r] || j.bs[r].Owned()
	}
	j.take(r, &o)
}

// take does what comes out of a rank.
func (j *job) take(r int, o *Out) {
	for w := o.Fire.Pop(); w != nil; w = o.Fire.Pop() {
		j.fire(w)
	}
	for _, m := range o.Messages {
		j.send(r, m)
	}
}

func (j *job) fire(w *event.Waiter) {
	at := w.Op.(mark)
	if was, ok := j.fired[at]; ok {
		j.errs = append(j.errs, fmt.Sprintf("%v fires twice: %s", at, was))
	}
	j.fired[at] = "ok"
	if w.Poison != nil {
		j.fired[at] = w.Poison.Text
	}
}

// send puts a message on the wire, as its bytes.
func (j *job) send(r int, m Message) {
	j.sent++
	if m.To == int32(r) {
		j.errs = append(j.errs, fmt.Sprintf("rank %d sends to itself: %s", r, show(m)))
	}
	if j.dead[m.To] {
		return
	}
	var words [Words]uint64
	n, payload := m.Encode(j.id, &words, nil)
	if len(payload) > maxPayload {
		j.errs = append(j.errs, fmt.Sprintf("%d bytes: %s", len(payload), show(m)))
	}
	id, d, err := Decode(words[:n], payload, len(j.bs))
	if d.To = m.To; err != nil || id != j.id || show(d) != show(m) {
		j.errs = append(j.errs, fmt.Sprintf("%s becomes %s, %v", show(m), show(d), err))
	}
	j.wires = append(j.wires, wire{d, int32(r), show(d)})
}

// deliver hands over a message under way.
func (j *job) deliver(i int) {
	w := j.wires[i]
	j.wires = slices.Delete(j.wires, i, i+1)
	r := int(w.m.To)
	if j.gone[r] {
		var o Out
		why := ""
		if j.ends[r] {
			why = Destroyed
		}
		again := Stray(j.config(r), &w.m, why, &o)
		if j.take(r, &o); !again {
			return
		}
	}
	j.act(r, func(b *Barrier, o *Out) { b.Receive(&w.m, o) })
}

// wait has rank r wait for a phase, and its result.
func (j *job) wait(r int, phase uint64) {
	w := &event.Waiter{Op: mark{r, phase}}
	j.act(r, func(b *Barrier, o *Out) {
		if b.Subscribe(phase, true, w, o) {
			j.fire(w)
		}
	})
}

func (j *job) arrive(r int, h Handle, n int64, v []byte, p *event.Poison) (err error) {
	j.act(r, func(b *Barrier, o *Out) { err = b.Arrive(h, n, v, p, o) })
	return err
}

func (j *job) alter(r int, h Handle, delta int64) (g Handle, err error) {
	j.act(r, func(b *Barrier, o *Out) { g, err = b.Alter(h, delta, o) })
	return g, err
}

func (j *job) flush(r int) { j.act(r, func(b *Barrier, o *Out) { b.Flush(o) }) }

func (j *job) move(r, to int) { j.act(r, func(b *Barrier, o *Out) { b.Move(int32(to), o) }) }

// dirty tells whether Flush of a rank would send something.
func (j *job) dirty(r int) bool {
	b := j.bs[r]
	asks := func(w wait) bool { return !w.asked }
	return !j.gone[r] && (len(b.pending) > 0 || b.own == nil && slices.ContainsFunc(b.waits, asks))
}

// die kills a rank. What is under way to it is lost.
func (j *job) die(r int) {
	j.dead[r] = true
	j.wires = slices.DeleteFunc(j.wires, func(w wire) bool { return w.m.To == int32(r) })
}

// tellable tells whether rank r may be told that another is dead.
func (j *job) tellable(r, dead int) bool {
	return j.dead[dead] && !j.dead[r] && !j.told[r].hasRank(int32(dead)) &&
		!slices.ContainsFunc(j.wires, func(w wire) bool { return w.from == int32(dead) && w.m.To == int32(r) })
}

func (j *job) tell(r, dead int) {
	j.told[r].addRank(int32(dead))
	if j.gone[r] {
		return
	}
	j.act(r, func(b *Barrier, o *Out) { b.Died(int32(dead), o) })
}

// owners are the living ranks that own the barrier.
func (j *job) owners() (all []int) {
	for r, b := range j.bs {
		if b.own != nil && !j.dead[r] && !j.gone[r] {
			all = append(all, r)
		}
	}
	return all
}

// clone is a copy that shares nothing that changes.
func (j *job) clone() *job {
	c := *j
	c.ends, c.gone = slices.Clone(j.ends), slices.Clone(j.gone)
	c.wires, c.dead, c.told = slices.Clone(j.wires), slices.Clone(j.dead), slices.Clone(j.told)
	c.bs, c.fired, c.errs = slices.Clone(j.bs), maps.Clone(j.fired), slices.Clip(j.errs)
	for r := range c.bs {
		c.told[r] = slices.Clone(j.told[r])
		c.bs[r] = j.bs[r].clone()
		c.bs[r].Config = c.config(r)
	}
	return &c
}

func (b *Barrier) clone() *Barrier {
	c := *b
	if b.own != nil {
		w := *b.own
		w.open = slices.Clone(w.open)
		for i := range w.open {
			p := &w.open[i]
			p.value, p.subs = slices.Clone(p.value), slices.Clone(p.subs)
		}
		w.seen, w.alters, w.held = maps.Clone(w.seen), slices.Clone(w.alters), slices.Clone(w.held)
		c.own = &w
	}
	c.waits = slices.Clone(b.waits)
	for i := range c.waits {
		x := &c.waits[i]
		x.list = event.List{}
		b.waits[i].list.Each(func(w *event.Waiter) { x.list.Push(&event.Waiter{Op: w.Op}) })
	}
	c.pending = slices.Clone(b.pending)
	for i := range c.pending {
		c.pending[i].Value = slices.Clone(c.pending[i].Value)
	}
	c.members, c.parts, c.early = slices.Clone(b.members), slices.Clone(b.parts), slices.Clone(b.early)
	return &c
}

// key tells states of a rank apart.
func (b *Barrier) key() string {
	var s strings.Builder
	fmt.Fprint(&s, b.owner, b.giver, b.epoch, b.known, b.bad, b.seq, b.waited, b.members, b.parts, b.failed != nil,
		b.from, b.orphan, b.ended, b.owned, "|")
	for _, r := range b.last {
		fmt.Fprint(&s, r.num, r.bad, r.poison != nil, r.value, r.gone, " ")
	}
	for _, w := range b.waits {
		fmt.Fprint(&s, "|", w.num, w.list.Len(), w.asked, w.held != nil)
	}
	for _, l := range [][]Message{b.pending, b.early} {
		for _, m := range l {
			fmt.Fprint(&s, "|", show(m))
		}
		s.WriteString("#")
	}
	if b.own != nil {
		s.Write(b.pack())
	}
	return s.String()
}

// key tells states of a job apart. The order of the messages does not count.
func (j *job) key() string {
	var s strings.Builder
	for r, b := range j.bs {
		switch {
		case j.dead[r]:
		case j.gone[r]:
			fmt.Fprint(&s, r, j.ends[r], j.told[r], "\n")
		default:
			fmt.Fprint(&s, r, b.key(), j.ends[r], j.told[r], "\n")
		}
	}
	var ws []string
	for _, w := range j.wires {
		ws = append(ws, fmt.Sprint(w.from, w.text))
	}
	slices.Sort(ws)
	fmt.Fprint(&s, j.dead, ws)
	for _, m := range slices.SortedFunc(maps.Keys(j.fired), func(a,
		b mark,
	) int {
		return 8*(a.rank-b.rank) + int(a.phase) - int(b.phase)
	}) {
		fmt.Fprint(&s, m, j.fired[m] == "ok")
	}
	return s.String()
}

var kindNames = [...]string{
	Arrival: "arrival", Alteration: "alteration", Subscription: "subscription", Request: "request", Fault: "fault",
	End:     "end",
	Trigger: "trigger", Refusal: "refusal", Failure: "failure", Moved: "moved", State: "state",
}

// show is a message in words: what differs from zero.
func show(m Message) string {
	s := fmt.Sprintf("%s to %d", kindNames[m.Kind], m.To)
	v := reflect.ValueOf(m)
	for i := 1; i < v.NumField(); i++ {
		name, f := strings.ToLower(v.Type().Field(i).Name), v.Field(i)
		switch {
		case name == "to":
		case name == "value" && m.Kind == State:
		case name == "poison" && m.Poison != nil:
			s += fmt.Sprintf(" poison %d %q", m.Poison.Rank, m.Poison.Text)
		case name == "stamp" && m.Stamp != 0:
			s += fmt.Sprintf(" stamp %d.%d", m.Stamp.rank(), m.Stamp.n())
		case f.Kind() == reflect.Slice && f.Len() > 0, name == "from", f.Kind() != reflect.Slice && !f.IsZero():
			s += fmt.Sprint(" ", name, " ", f)
		}
	}
	return s
}
