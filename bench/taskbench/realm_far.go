package taskbench

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/golci/golci/realm"
)

// farEdges are the edges from and to other ranks.
type farEdges struct {
	*graphRun
	owner  []int // rank of each point
	inputs *wires[*farInput]
	known  []*farInput // by point; nil for those that no task of this rank depends on
}

// farInput is what the tasks of this rank get from a point of another rank: all steps have room of their own. An event
// tells that an input is there.
type farInput struct {
	events []realm.UserEvent // by step; zero where there is no input
	left   []atomic.Int32    // stamps that have not come, by step
	room   []Stamp
	stamps int // of an input
}

func (f *farInput) input(step int) []Stamp { return f.room[step*f.stamps : (step+1)*f.stamps] }

func newFarEdges(g *graphRun) *farEdges {
	f := &farEdges{graphRun: g, owner: owners(g.Width, g.realm.rt.Size()), known: make([]*farInput, g.Width)}
	f.inputs = wire(g.Plan, func(producer, consumer int) *farInput {
		if g.own.Has(producer) || !g.own.Has(consumer) {
			return nil
		}
		if f.known[producer] == nil {
			stamps := g.Payload / stampBytes
			f.known[producer] = &farInput{
				make([]realm.UserEvent, g.Steps), make([]atomic.Int32, g.Steps), make([]Stamp, g.Steps*stamps), stamps,
			}
		}
		return f.known[producer]
	})
	for step := range g.Steps {
		w := g.window(step)
		for point := max(w.First, g.own.First); point <= min(w.Last, g.own.Last); point++ {
			for _, in := range f.inputs.inputs(step, point) {
				if in != nil && in.left[step].Load() == 0 {
					in.events[step] = g.realm.rt.NewUserEvent()
					in.left[step].Store(int32(in.stamps))
				}
			}
		}
	}
	return f
}

// send spawns tasks that bring an output to the ranks that need it, once to each.
func (f *farEdges) send(c *realm.Ctx, step, point int, out []Stamp) error {
	var few [fewInputs]int
	told := few[:0]
	for _, consumer := range f.Outputs(step, point) {
		rank := f.owner[consumer]
		if f.own.Has(consumer) || slices.Contains(told, rank) {
			continue
		}
		told = append(told, rank)
		to := realm.ProcessorOf(rank)
		for at := 0; at < len(out); {
			p := parcelFor(len(out) - at)
			n := min(p.stamps, len(out)-at)
			p.send(c, to, label{uint32(point), uint32(step + 1), uint32(at), uint32(n)}, out[at:at+n])
			at += n
		}
	}
	return nil
}

// label says which part of which input a parcel has: Point has written it, and tasks of Step need it.
type label struct{ Point, Step, At, Stamps uint32 }

// deliver stores a part of an input.
func deliver(c *realm.Ctx, l label, stamps []Stamp) error {
	g := realmOf(c.Runtime()).current.Load()
	var in *farInput
	if int(l.Point) < g.Width {
		in = g.far.known[l.Point]
	}
	if in == nil || int(l.Step) >= len(in.events) || int(l.At+l.Stamps) > in.stamps {
		return fmt.Errorf("%w: an input %+v that nobody needs", ErrResult, l)
	}
	copy(in.input(int(l.Step))[l.At:], stamps[:l.Stamps])
	switch left := in.left[l.Step].Add(-int32(l.Stamps)); {
	case left < 0:
		g.fail("an output of point %d comes twice for step %d", l.Point, l.Step)
	case left == 0:
		return in.events[l.Step].Trigger(realm.NoEvent)
	}
	return nil
}

// parcel is a task that brings a number of stamps as its arguments.
type parcel struct {
	stamps int
	send   func(c *realm.Ctx, to realm.Processor, l label, stamps []Stamp)
}

// contents are the arguments of such a task. P is an array of stamps.
type contents[P any] struct {
	Label  label
	Stamps P
}

func newParcel[P any](stamps int, view func(*P) []Stamp) parcel {
	task := realm.Register(fmt.Sprintf("taskbench.deliver%d", stamps), func(c *realm.Ctx, a contents[P]) error {
		return deliver(c, a.Label, view(&a.Stamps))
	})
	return parcel{stamps, func(c *realm.Ctx, to realm.Processor, l label, stamps []Stamp) {
		a := contents[P]{Label: l}
		copy(view(&a.Stamps), stamps)
		realm.Spawn(c, to, task, a)
	}}
}

// parcels are sorted; the largest fits into a message.
var parcels = []parcel{
	newParcel(1, func(p *[1]Stamp) []Stamp { return p[:] }),
	newParcel(8, func(p *[8]Stamp) []Stamp { return p[:] }),
	newParcel(64, func(p *[64]Stamp) []Stamp { return p[:] }),
}

// parcelFor is the smallest that has room for n stamps, or the largest.
func parcelFor(n int) parcel {
	for _, p := range parcels {
		if p.stamps >= n {
			return p
		}
	}
	return parcels[len(parcels)-1]
}
