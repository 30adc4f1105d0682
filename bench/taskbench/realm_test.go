package taskbench

import (
	"fmt"
	"testing"

	"github.com/golci/golci/rank"
	"github.com/golci/golci/realm"
)

// onRealm runs f on so many ranks of this process, with so many workers each.
func onRealm(ranks, workers int, f func(m *Realm) error) error {
	cfg := rank.Config{Settings: map[string]string{"GOLCI_WORKERS": fmt.Sprint(workers)}}
	return realm.RunWith(ranks, cfg, func(rt *realm.Runtime) error {
		m := NewRealm(rt, workers)
		defer m.Close()
		return f(m)
	})
}

func (m *Realm) newRun(p *Plan) *Run { return NewRun(p, Own(p.Width, m.rt.Rank(), m.rt.Size())) }

// TestRealm runs all graphs on some ranks of this process, also on more ranks than there are points.
func TestRealm(t *testing.T) {
	for _, n := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {3, 2}} {
		err := onRealm(n[0], n[1], func(m *Realm) error {
			for _, g := range graphs() {
				p, err := NewPlan(g)
				if err != nil {
					return err
				}
				if err := twiceOver(m, m.newRun(p)); err != nil {
					return fmt.Errorf("%+v: %w", g, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%d ranks, %d workers: %v", n[0], n[1], err)
		}
	}
}

// TestRealmArbitrary runs graphs by chance, long enough that the driver waits, with outputs of several parcels.
func TestRealmArbitrary(t *testing.T) {
	r := random(t)
	var list []*Plan
	for len(list) < 8 {
		g := arbitrary(r)
		g.Steps *= 1 + r.IntN(30)
		g.Payload = stampBytes * (1 + r.IntN(150))
		if p, err := NewPlan(g); err == nil {
			list = append(list, p)
		}
	}
	for _, ranks := range []int{1, 2, 3} {
		err := onRealm(ranks, 2, func(m *Realm) error {
			for _, p := range list {
				if err := twiceOver(m, m.newRun(p)); err != nil {
					return fmt.Errorf("%+v: %w", p.Graph, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%d ranks: %v", ranks, err)
		}
	}
}
