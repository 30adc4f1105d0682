package topo

// Limits of refine: passes over all ranks, steps in all, where a step looks at one pair of ranks, and sums that it keeps.
const (
	mostPasses = 12
	mostSteps  = 4_000_000
	mostSums   = 1 << 24
)

// refine improves parts by exchanges of two ranks, and by moves to nodes with a process free. Each of them lowers the
// cut, so it ends. It does nothing where ranks times nodes is above mostSums.
func refine(t *Traffic, part []int, m *machine) {
	if len(part)*len(m.processes) > mostSums {
		return
	}
	f := newRefiner(t, part, m)
	for range mostPasses {
		better := false
		for r := range part {
			better = f.improve(r) || better
			if f.steps > mostSteps {
				return
			}
		}
		if !better {
			return
		}
	}
}

type refiner struct {
	t     *Traffic
	part  []int
	m     *machine
	ranks [][]int // of each part
	sums  []int64 // by rank and part: the traffic of the rank with those of the part
	tried []int   // by part: the value of turn when a rank was last to move there
	turn  int
	steps int
}

func newRefiner(t *Traffic, part []int, m *machine) *refiner {
	n := len(m.processes)
	f := &refiner{
		t: t, part: part, m: m, ranks: make([][]int, n), sums: make([]int64, len(part)*n), tried: make([]int, n),
	}
	for r, p := range part {
		f.ranks[p] = append(f.ranks[p], r)
		for _, l := range t.linksOf(r) {
			*f.sumOf(l.to, p) += l.weight
		}
	}
	return f
}

func (f *refiner) sumOf(rank, part int) *int64 { return &f.sums[rank*len(f.m.processes)+part] }

// gain is by how much the cut falls if a rank moves alone.
func (f *refiner) gain(rank, to int) int64 { return *f.sumOf(rank, to) - *f.sumOf(rank, f.part[rank]) }

// move is a rank that moves to a part, with another one in exchange, or -1.
type move struct {
	with, to int
	gain     int64
}

// improve moves a rank to the part of one of its neighbours, alone or in exchange, if that lowers the cut: by the move
// that does most.
func (f *refiner) improve(r int) bool {
	own := f.part[r]
	f.turn++
	f.tried[own] = f.turn
	best := move{with: -1}
	for _, l := range f.t.linksOf(r) {
		if to := f.part[l.to]; f.tried[to] != f.turn {
			f.tried[to] = f.turn
			f.lookForMove(r, to, &best)
		}
	}
	if best.gain == 0 {
		return false
	}
	f.moveRank(r, best.to)
	if best.with >= 0 {
		f.moveRank(best.with, own)
	}
	return true
}

// lookForMove finds the best move of a rank to a part, if it is better than best.
func (f *refiner) lookForMove(r, to int, best *move) {
	gain := f.gain(r, to)
	if gain > best.gain && len(f.ranks[to]) < len(f.m.processes[to]) {
		*best = move{-1, to, gain}
	}
	f.steps += len(f.ranks[to])
	for _, w := range f.ranks[to] {
		both := gain + f.gain(w, f.part[r])
		if both <= best.gain {
			continue // also before what the two have to say to each other is taken off
		}
		if both -= 2 * f.t.between(r, w); both > best.gain {
			*best = move{w, to, both}
		}
	}
}

func (f *refiner) moveRank(r, to int) {
	from := f.part[r]
	list := f.ranks[from]
	for i, x := range list {
		if x == r {
			list[i] = list[len(list)-1]
			f.ranks[from] = list[:len(list)-1]
			break
		}
	}
	f.part[r] = to
	f.ranks[to] = append(f.ranks[to], r)
	for _, l := range f.t.linksOf(r) {
		*f.sumOf(l.to, from) -= l.weight
		*f.sumOf(l.to, to) += l.weight
	}
}
