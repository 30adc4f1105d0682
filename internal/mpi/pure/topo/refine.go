package topo

// Limits of refine: so many passes, and so many steps in all, where a step looks at one pair of ranks.
const (
	mostPasses = 12
	mostSteps  = 20_000_000
)

// refine improves parts by exchanges of two ranks, and by moves to nodes with a process free. Each step lowers the cut,
// so it ends.
func refine(t *Traffic, part []int, m *machine) {
	f := &refiner{t: t, part: part, m: m, ranks: make([][]int, len(m.processes))}
	for r, p := range part {
		f.ranks[p] = append(f.ranks[p], r)
	}
	for range mostPasses {
		better := false
		for r := range part {
			better = f.improve(r) || better
		}
		if !better || f.steps > mostSteps {
			return
		}
	}
}

type refiner struct {
	t     *Traffic
	part  []int
	m     *machine
	ranks [][]int // of each part
	steps int
}

// to is the traffic of a rank with the ranks of a part.
func (f *refiner) to(rank, part int) (sum int64) {
	for _, l := range f.t.of(rank) {
		if f.part[l.to] == part {
			sum += l.weight
		}
	}
	return sum
}

// improve moves a rank to the part of one of its neighbours, alone or in exchange, if that lowers the cut: by the step
// that does most.
func (f *refiner) improve(r int) bool {
	own := f.part[r]
	inside := f.to(r, own)
	most, with, where := int64(0), -1, -1
	tried := -1
	for _, l := range f.t.of(r) {
		other := f.part[l.to]
		if other == own || other == tried {
			continue
		}
		tried = other
		gain := f.to(r, other) - inside
		if len(f.ranks[other]) < len(f.m.processes[other]) && gain > most {
			most, with, where = gain, -1, other
		}
		for _, w := range f.ranks[other] {
			f.steps++
			both := gain + f.to(w, own) - f.to(w, other) - 2*f.t.between(r, w)
			if both > most {
				most, with, where = both, w, other
			}
		}
	}
	if most == 0 {
		return false
	}
	f.move(r, where)
	if with >= 0 {
		f.move(with, own)
	}
	return true
}

func (f *refiner) move(r, part int) {
	list := f.ranks[f.part[r]]
	for i, x := range list {
		if x == r {
			list[i] = list[len(list)-1]
			f.ranks[f.part[r]] = list[:len(list)-1]
			break
		}
	}
	f.part[r] = part
	f.ranks[part] = append(f.ranks[part], r)
}
