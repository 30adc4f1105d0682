package realm

import "testing"

// TestLinger: a runner without tasks keeps the turn while it lingers, and is told of what comes. A second look without
// anything to do ends its turn.
func TestLinger(t *testing.T) {
	err := Run(1, func(rt *Runtime) error {
		p := &processor{rt: rt, id: makeProcessor(0, CPU, 7)}
		r := rt.newRunner(p)
		p.turn = r
		for range 2 {
			if x, has := p.choose(r, true); x != nil || !has || p.turn != r || p.urgent.Load() {
				t.Errorf("without tasks: task %v, has the turn: %v, urgent %v", x, has, p.urgent.Load())
			}
			x := rt.newTask()
			x.priority = 0
			p.pushTask(x, nil)
			if !p.urgent.Load() || p.turn != r {
				t.Error("a runner that lingers is not told of a task")
			}
			if y, has := p.choose(r, false); y != x || !has {
				t.Errorf("a task has come: %v, has the turn: %v", y, has)
			}
			p.pushTask(x, nil)
			if p.urgent.Load() {
				t.Error("a runner that does not linger is told")
			}
			if y := p.nextTask(r); y != x {
				t.Errorf("the next task is %v", y)
			}
			x.freeTask()
		}
		if x, has := p.choose(r, false); x != nil || has || p.turn != nil || len(p.idle) != 1 {
			t.Errorf("at the end: task %v, has the turn: %v, %d idle", x, has, len(p.idle))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestLingerOfGroup: a group gives its task to a member that lingers, and to no other one.
func TestLingerOfGroup(t *testing.T) {
	err := Run(1, func(rt *Runtime) error {
		g := &group{}
		for range 2 {
			p := &processor{rt: rt, groups: []*group{g}}
			p.turn, p.lingers = rt.newRunner(p), true
			g.members = append(g.members, p)
		}
		x := rt.newTask()
		x.priority = 0
		g.pushTask(x, nil)
		if !g.members[0].urgent.Load() || g.members[1].urgent.Load() {
			t.Error("not the first member alone is told")
		}
		if y, _ := g.members[0].choose(g.members[0].turn, false); y != x {
			t.Errorf("it finds task %v", y)
		}
		x.freeTask()
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
