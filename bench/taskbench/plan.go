package taskbench

// Plan is a Graph with its relations looked up, for all runs of it. It does not change.
type Plan struct {
	Graph
	stages []stage // of steps -1 to Steps
	most   int     // inputs of a task
}

// stage is what a step has of its own: its points, and how all points are related to those of the step before.
type stage struct {
	window Interval
	full   bool // all points have tasks in this step and in the one before
	set    int
	nodes  []node // of the set, by point
}

// node is the points related to a point under a set. Where a window leaves some out but not all, they are sorted.
type node struct{ in, out []int }

// NewPlan checks g and looks its relations up.
func NewPlan(g Graph) (*Plan, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	p := &Plan{Graph: g, stages: make([]stage, g.Steps+2)}
	sets := make([][]node, g.Sets())
	for set := range sets {
		sets[set] = make([]node, g.Width)
		for point := range g.Width {
			n := node{points(g.Dependencies(set, point)), points(g.ReverseDependencies(set, point))}
			sets[set][point] = n
			p.most = max(p.most, len(n.in))
		}
	}
	for i := range p.stages {
		set := g.SetAt(max(0, i-1))
		w := g.Window(i - 1)
		p.stages[i] = stage{w, w.Len() == g.Width && g.Window(i-2).Len() == g.Width, set, sets[set]}
	}
	return p, nil
}

func points(list []Interval) (all []int) {
	for _, i := range list {
		for point := i.First; point <= i.Last; point++ {
			all = append(all, point)
		}
	}
	return all
}

// window is Window without a calculation, for steps from -1 to Steps.
func (p *Plan) window(step int) Interval { return p.stages[step+1].window }

// Inputs lists the points whose tasks of the step before the task (step, point) depends on, in Task Bench's order.
// The list belongs to p.
func (p *Plan) Inputs(step, point int) []int {
	list := p.stages[step+1].nodes[point].in
	from, to := within(list, p.stages[step].window)
	return list[from:to]
}

// Outputs lists the points whose tasks of the next step depend on the task (step, point). The list belongs to p.
func (p *Plan) Outputs(step, point int) []int {
	next := &p.stages[step+2]
	list := next.nodes[point].out
	from, to := within(list, next.window)
	return list[from:to]
}

// within leaves out what is not in the window, at both ends.
func within(list []int, w Interval) (from, to int) {
	to = len(list)
	for from < to && list[from] < w.First {
		from++
	}
	for from < to && list[to-1] > w.Last {
		to--
	}
	return from, to
}

// wires has something for each pair of points that are related, the same in all sets. The lists are as long as those
// of the nodes, and belong to it.
type wires[E any] struct {
	plan *Plan
	sets []wiring[E]
}

// wiring is the wires of a set, by point.
type wiring[E any] struct{ in, out [][]E }

// wire makes the wires of p, each once.
func wire[E any](p *Plan, connect func(producer, consumer int) E) *wires[E] {
	known := make(map[[2]int]E)
	get := func(producer, consumer int) E {
		key := [2]int{producer, consumer}
		e, ok := known[key]
		if !ok {
			e = connect(producer, consumer)
			known[key] = e
		}
		return e
	}
	w := &wires[E]{p, make([]wiring[E], p.Sets())}
	for i := range p.stages {
		s := &w.sets[p.stages[i].set]
		if s.in != nil {
			continue
		}
		s.in, s.out = make([][]E, p.Width), make([][]E, p.Width)
		for point, n := range p.stages[i].nodes {
			for _, producer := range n.in {
				s.in[point] = append(s.in[point], get(producer, point))
			}
			for _, consumer := range n.out {
				s.out[point] = append(s.out[point], get(point, consumer))
			}
		}
	}
	return w
}

// inputs are the wires of the points that Inputs lists.
func (w *wires[E]) inputs(step, point int) []E {
	s := &w.plan.stages[step+1]
	from, to := within(s.nodes[point].in, w.plan.stages[step].window)
	return w.sets[s.set].in[point][from:to]
}

// outputs are the wires of the points that Outputs lists.
func (w *wires[E]) outputs(step, point int) []E {
	s := &w.plan.stages[step+2]
	from, to := within(s.nodes[point].out, s.window)
	return w.sets[s.set].out[point][from:to]
}
