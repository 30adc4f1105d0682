package taskbench

import "slices"

// Interval is the points from First to Last, both included.
type Interval struct{ First, Last int }

// Len is how many points i has.
func (i Interval) Len() int { return max(0, i.Last-i.First+1) }

// Has tells whether point is in i.
func (i Interval) Has(point int) bool { return i.First <= point && point <= i.Last }

func only(point int) Interval { return Interval{point, point} }

// around is the points from before to after a point, as far as there are such.
func (g *Graph) around(point, before, after int) Interval {
	return Interval{max(0, point-before), min(point+after, g.Width-1)}
}

// Dependencies lists the points whose tasks a point's task depends on under a dependence set. Those that have no task
// at the step before are among them (Window). No two intervals overlap.
func (g *Graph) Dependencies(set, point int) []Interval {
	switch g.Type {
	case Dom:
		return []Interval{g.around(point, 1, 0)}
	case Tree:
		return []Interval{only(point / 2)}
	case Nearest, RandomNearest:
		return g.near(g.around(point, g.Radix/2, (g.Radix-1)/2), func(i int) bool { return g.connected(set, i, point) })
	case Spread:
		return g.spread(func(i, shift int) int { return point + i*g.Width/g.Radix + shift }, set)
	}
	return g.symmetric(set, point)
}

// ReverseDependencies lists the points whose tasks depend on a point's task of the step before under a set.
func (g *Graph) ReverseDependencies(set, point int) []Interval {
	switch g.Type {
	case Dom:
		return []Interval{g.around(point, 0, 1)}
	case Tree:
		if 2*point >= g.Width {
			return nil
		}
		return []Interval{{2 * point, min(2*point+1, g.Width-1)}}
	case Nearest, RandomNearest:
		return g.near(g.around(point, (g.Radix-1)/2, g.Radix/2), func(i int) bool { return g.connected(set, point, i) })
	case Spread:
		return g.spread(func(i, shift int) int { return point - i*g.Width/g.Radix - shift }, set)
	}
	return g.symmetric(set, point)
}

// symmetric has the types in which points depend on each other.
func (g *Graph) symmetric(set, point int) []Interval {
	switch g.Type {
	case NoComm:
		return []Interval{only(point)}
	case Stencil1D:
		return []Interval{g.around(point, 1, 1)}
	case Stencil1DPeriodic:
		list := []Interval{g.around(point, 1, 1)}
		if point == 0 {
			list = append(list, only(g.Width-1))
		}
		if point == g.Width-1 {
			list = append(list, only(0))
		}
		return list
	case FFT:
		list := []Interval{only(point - 1<<set), only(point), only(point + 1<<set)}
		return slices.DeleteFunc(list, func(i Interval) bool { return i.First < 0 || i.Last >= g.Width })
	case AllToAll:
		return []Interval{{0, g.Width - 1}}
	}
	return nil
}

// near lists the points of window for which with holds, or all of them for Nearest.
func (g *Graph) near(window Interval, with func(i int) bool) (list []Interval) {
	if g.Radix == 0 {
		return nil
	}
	if g.Type == Nearest {
		return []Interval{window}
	}
	for i := window.First; i <= window.Last; i++ {
		switch n := len(list); {
		case !with(i):
		case n > 0 && list[n-1].Last == i-1:
			list[n-1].Last = i
		default:
			list = append(list, only(i))
		}
	}
	return list
}

// connected tells whether consumer depends on producer in a graph of type RandomNearest.
func (g *Graph) connected(set, producer, consumer int) bool {
	return producer == consumer ||
		uniform(g.Index, g.Radix, set, producer, consumer) < g.Fraction
}

// spread lists the points at, which depend on the number of the dependency and a shift. Only the first one, the point
// itself, is not shifted.
func (g *Graph) spread(at func(i, shift int) int, set int) []Interval {
	list := make([]Interval, g.Radix)
	for i := range list {
		shift := set
		if i == 0 {
			shift = 0
		}
		list[i] = only(((at(i, shift) % g.Width) + g.Width) % g.Width)
	}
	return list
}
