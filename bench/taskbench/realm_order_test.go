package taskbench

import (
	"fmt"
	"slices"
	"testing"

	"github.com/golci/golci/realm"
)

// TestRealmOrder: the preconditions of a task are the ends of those whose outputs it reads, and such that it comes
// after whoever has read or written what it writes over. None of them is needless.
func TestRealmOrder(t *testing.T) {
	r := random(t)
	list := graphs()
	for range 40 {
		list = append(list, arbitrary(r))
	}
	for _, ranks := range []int{1, 2, 3} {
		err := onRealm(ranks, 1, func(m *Realm) error {
			for _, g := range list {
				p, err := NewPlan(g)
				if err != nil {
					continue // a graph by chance that is not defined
				}
				if err := newOrder(m, p).check(); err != nil {
					return fmt.Errorf("rank %d of %d, %+v: %w", m.rt.Rank(), ranks, p.Graph, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// place is a task of a graph, by step and point.
type place struct{ step, point int }

// order is the order that the preconditions of a rank's tasks give.
type order struct {
	*graphRun
	task  map[realm.Event]place // by the event of its end
	after map[place][]place     // own tasks whose ends are preconditions
}

func newOrder(m *Realm, p *Plan) *order {
	return &order{newGraphRun(m, m.newRun(p)), make(map[realm.Event]place), make(map[place][]place)}
}

func (o *order) check() error {
	for step := range o.Steps {
		w := o.window(step)
		for point := max(w.First, o.own.First); point <= min(w.Last, o.own.Last); point++ {
			if err := o.checkTask(place{step, point}); err != nil {
				return fmt.Errorf("task %v: %w", place{step, point}, err)
			}
		}
	}
	return nil
}

// checkTask looks at the preconditions of x, and has an event stand for its end.
func (o *order) checkTask(x place) error {
	var far []realm.Event
	for _, e := range o.preconditions(nil, x.step, x.point) {
		if before, own := o.task[e]; own {
			o.after[x] = append(o.after[x], before)
		} else if e != realm.NoEvent {
			far = append(far, e)
		}
	}
	end := o.realm.rt.NewUserEvent().Event()
	o.ends[x.step%2][x.point-o.own.First], o.task[end] = end, x
	if err := o.checkInputs(x, far); err != nil {
		return err
	}
	return o.checkRoom(x)
}

// checkInputs: each input that x reads is there.
func (o *order) checkInputs(x place, far []realm.Event) error {
	missing := len(far)
	for i, p := range o.Inputs(x.step, x.point) {
		switch in := (place{x.step - 1, p}); {
		case !o.own.Has(p):
			missing--
			if !slices.Contains(far, o.far.inputs.inputs(x.step, x.point)[i].events[x.step].Event()) {
				return fmt.Errorf("it does not wait for the input of %v", in)
			}
		case !slices.Contains(o.after[x], in):
			return fmt.Errorf("it does not wait for %v, whose output it reads", in)
		}
	}
	if missing != 0 {
		return fmt.Errorf("it waits for %d events of other ranks, of which %d are not its inputs", len(far), missing)
	}
	return nil
}

// checkRoom: who has written or read what x writes over has ended.
func (o *order) checkRoom(x place) error {
	old := place{x.step - 2, x.point}
	if old.step < 0 || !o.window(old.step).Has(old.point) {
		return nil
	}
	var readers []place
	for _, p := range o.Outputs(old.step, old.point) {
		if o.own.Has(p) {
			readers = append(readers, place{old.step + 1, p})
		}
	}
	for _, reader := range readers {
		if !slices.Contains(o.after[x], reader) {
			return fmt.Errorf("it writes over what %v reads", reader)
		}
	}
	if direct := slices.Contains(o.after[x], old); direct != (len(readers) == 0) {
		return fmt.Errorf("%v, whose output it writes over: a precondition %v, with readers %v", old, direct, readers)
	}
	return nil
}
