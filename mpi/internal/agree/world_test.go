package agree

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/golci/golci/internal/test/explore"
)

// world is the ranks of a communicator, and the messages between them, which may overtake each other.
type world struct {
	plan
	ranks   []*Series
	calls   []int // made by each rank
	wires   []wire
	dead    Set
	told    []Set     // whose failure each rank was told
	decided [][]Value // by rank and number
	fault   error
}

// plan is what may happen.
type plan struct {
	ranks  int
	calls  int   // of each rank
	dies   []int // ranks that may die
	deaths int   // at most so many of them do
}

type wire struct {
	from int
	Action
	key string // equal for equal messages
}

func (w wire) String() string {
	return fmt.Sprintf("%d>%d %v %d", w.from, w.To, w.Message.Kind, w.Message.Number)
}

func newWorld(p plan) *world {
	w := &world{plan: p, dead: NewSet(p.ranks), calls: make([]int, p.ranks), decided: make([][]Value, p.ranks)}
	for r := range p.ranks {
		w.ranks = append(w.ranks, New(r, p.ranks))
		w.told = append(w.told, NewSet(p.ranks))
	}
	return w
}

// step is one thing that may happen.
type step struct {
	what string
	rank int
	wire int // number of the message, or of the rank that is told about
}

func (w *world) possible() (steps []step) {
	for r := range w.ranks {
		if w.dead.Has(r) {
			continue
		}
		if w.calls[r] < w.plan.calls && len(w.decided[r]) == w.calls[r] {
			steps = append(steps, step{"call", r, 0})
		}
		if slices.Contains(w.dies, r) && w.dead.Len() < w.deaths {
			steps = append(steps, step{"die", r, 0})
		}
		for d := range w.dead.All() {
			if !w.told[r].Has(d) {
				steps = append(steps, step{"tell", r, d})
			}
		}
	}
	for i, m := range w.wires {
		if i > 0 && w.wires[i-1].key == m.key {
			continue
		}
		steps = append(steps, step{"take", m.To, i})
		if w.dead.Has(m.from) {
			steps = append(steps, step{"lose", m.To, i})
		}
	}
	return steps
}

func (w *world) Steps() (names []string) {
	for _, s := range w.possible() {
		switch s.what {
		case "take", "lose":
			names = append(names, s.what+" "+w.wires[s.wire].String())
		case "tell":
			names = append(names, fmt.Sprintf("tell %d of %d", s.rank, s.wire))
		default:
			names = append(names, fmt.Sprintf("%s %d", s.what, s.rank))
		}
	}
	return names
}

func (w *world) Do(n int) { w.do(w.possible()[n]) }

func (w *world) do(s step) {
	r := w.ranks[s.rank]
	var actions []Action
	var err error
	switch s.what {
	case "call":
		w.calls[s.rank]++
		actions, err = r.Call(bring(s.rank, w.plan.ranks))
	case "die":
		w.dead.Add(s.rank)
		w.wires = slices.DeleteFunc(w.wires, func(m wire) bool { return m.To == s.rank })
	case "tell":
		w.told[s.rank].Add(s.wire)
		actions = r.Failed(s.wire)
	default:
		m := w.wires[s.wire]
		w.wires = slices.Delete(w.wires, s.wire, s.wire+1)
		if s.what == "take" {
			actions, err = r.Step(m.from, m.Message)
		}
	}
	if err != nil {
		w.fault = err
	}
	w.act(s.rank, actions)
}

// bring is what a rank brings: a flag without its bit, and all failures acknowledged but its own. So a value tells who
// took part.
func bring(rank, ranks int) (flag uint64, acked Set) {
	self := NewSet(ranks)
	self.Add(rank)
	return ^(uint64(1) << rank), full(ranks).subtractSet(self)
}

func (w *world) act(rank int, actions []Action) {
	for _, a := range actions {
		switch {
		case a.To == Caller:
			if int(a.Message.Number) != len(w.decided[rank]) || w.calls[rank] != len(w.decided[rank])+1 {
				w.fault = fmt.Errorf("rank %d decides %d in call %d", rank, a.Message.Number, w.calls[rank])
			}
			w.decided[rank] = append(w.decided[rank], a.Message.Value)
		case w.told[rank].Has(a.To):
			w.fault = fmt.Errorf("rank %d sends to %d, of whose death it was told", rank, a.To)
		case !w.dead.Has(a.To):
			key := string(a.Message.Append([]byte{byte(rank), byte(a.To)}))
			w.wires = append(w.wires, wire{rank, a, key})
		}
	}
	slices.SortFunc(w.wires, func(a, b wire) int { return strings.Compare(a.key, b.key) })
}

func (w *world) Clone() explore.World {
	c := *w
	c.ranks = nil
	for _, r := range w.ranks {
		c.ranks = append(c.ranks, r.clone())
	}
	c.calls, c.wires, c.dead = slices.Clone(w.calls), slices.Clone(w.wires), slices.Clone(w.dead)
	c.told, c.decided = slices.Clone(w.told), slices.Clone(w.decided)
	for i := range c.told {
		c.told[i], c.decided[i] = slices.Clone(c.told[i]), slices.Clip(c.decided[i])
	}
	return &c
}

func (s *Series) clone() *Series {
	c := *s
	c.open = nil
	for _, i := range s.open {
		d := *i
		d.votes, d.acks = i.votes.clone(), slices.Clone(i.acks)
		c.open = append(c.open, &d)
	}
	return &c
}

func (t *tally) clone() *tally {
	if t == nil {
		return nil
	}
	c := &tally{voted: slices.Clone(t.voted), knows: slices.Clone(t.knows), best: t.best}
	c.best.Value = t.best.Value.clone()
	return c
}

func (w *world) Key() string {
	b := append([]byte(nil), byte(w.dead[0]), byte(len(w.wires)))
	for _, m := range w.wires {
		b = append(b, m.key...)
	}
	for r, s := range w.ranks {
		b = append(b, byte(w.calls[r]), byte(w.told[r][0]))
		for _, v := range w.decided[r] {
			b = Message{Value: v}.Append(b)
		}
		if !w.dead.Has(r) {
			b = s.key(append(b, byte(s.failed[0])))
		}
	}
	return string(b)
}

func (s *Series) key(b []byte) []byte {
	b = append(b, byte(s.calls), byte(len(s.open)))
	open := slices.SortedFunc(slices.Values(s.open), func(x, y *instance) int { return int(x.number) - int(y.number) })
	for _, i := range open {
		b = append(b, byte(i.number), bit(i.called), byte(i.stage), byte(i.round), bit(i.proposed),
			byte(i.acks[0]), bit(i.votes != nil))
		if i.stage != Brought {
			b = Message{Value: i.value}.Append(b)
		}
		if i.votes != nil {
			b = i.votes.best.Append(append(b, byte(i.votes.voted[0]), byte(i.votes.knows[0])))
		}
	}
	return b
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// Check has all ranks decide the same, dead ones, too; a value tells who took part, and all others have failed. When
// nothing is left but deaths that may be, all living ranks have decided.
func (w *world) Check(bool) error {
	rest := !slices.ContainsFunc(w.possible(), func(s step) bool { return s.what != "die" })
	if w.fault != nil {
		return w.fault
	}
	all := make(map[int]Value)
	for r, values := range w.decided {
		if len(w.ranks[r].open) > 3 {
			return fmt.Errorf("rank %d keeps %d agreements", r, len(w.ranks[r].open))
		}
		for n, v := range values {
			if first, ok := all[n]; ok && !same(first, v) {
				return fmt.Errorf("agreement %d is %x and %x", n, first, v)
			}
			all[n] = v
		}
		if rest && !w.dead.Has(r) && len(values) != w.plan.calls {
			return fmt.Errorf("rank %d has decided %d times of %d", r, len(values), w.plan.calls)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(all)) {
		if err := w.checkValue(all[n]); err != nil {
			return fmt.Errorf("agreement %d: %w", n, err)
		}
	}
	return nil
}

func (w *world) checkValue(v Value) error {
	took := NewSet(w.plan.ranks)
	for r := range w.plan.ranks {
		if v.Flag>>r&1 == 0 {
			took.Add(r)
		}
	}
	switch {
	case v.Flag != ^took[0]:
		return fmt.Errorf("flag %x", v.Flag)
	case full(w.plan.ranks).subtractSet(took).subtractSet(v.Failed).Len() > 0:
		return fmt.Errorf("%x took part, %x have failed", took, v.Failed)
	case v.Failed.subtractSet(w.dead).Len() > 0:
		return fmt.Errorf("%x have failed, dead are %x", v.Failed, w.dead)
	case !slices.Equal(v.Acked, full(w.plan.ranks).subtractSet(took)):
		return fmt.Errorf("%x took part, they have acknowledged %x", took, v.Acked)
	case took.Len() == 0:
		return errors.New("nobody took part")
	}
	return nil
}

func same(a, b Value) bool {
	return a.Flag == b.Flag && slices.Equal(a.Failed, b.Failed) && slices.Equal(a.Acked, b.Acked)
}
