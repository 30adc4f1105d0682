package realmtest

import (
	"slices"

	"github.com/golci/golci/realm"
)

// choose sets what the kind of o needs. It returns false if there is no such operation now.
func (m *maker) choose(o *op) bool {
	switch o.kind {
	case addTask:
		o.proc = realm.ProcessorKind(m.rng.IntN(int(realm.Group)))
		o.dst = m.rng.IntN(len(m.arrays))
		if o.src = m.another(o.dst, func(a *array) bool { return a.rank == m.arrays[o.dst].rank }); o.src < 0 {
			return false
		}
	case longTask:
		o.proc = realm.ProcessorKind(m.rng.IntN(int(realm.Group)))
		o.dst = m.rng.IntN(len(m.arrays))
		o.points = m.some(&m.arrays[o.dst])
	case fillData:
		o.dst = m.rng.IntN(len(m.arrays))
		o.points = m.some(&m.arrays[o.dst])
	case foldData, listData:
		o.dst = m.rng.IntN(len(m.arrays))
		o.index = m.anyOf(m.arrays[o.dst].points(), 1+m.rng.IntN(300))
	case copyData, gatherData, scatterData:
		return m.chooseMove(o)
	case hold, share, everywhere:
		o.lock = m.rng.IntN(len(m.locks))
		o.inTask = o.inTask && o.kind != everywhere
		o.ignore = o.ignore && o.kind != everywhere
	case phase:
		o.barrier, o.inTask = m.rng.IntN(len(m.barriers)), false
		if o.number = m.phases[o.barrier]; o.number == maxPhases {
			return false
		}
		m.phases[o.barrier]++
	case cancel:
		o.deps, o.ignore, o.inTask = nil, false, false
	}
	o.waits = o.waits && o.inTask
	return true
}

func (m *maker) chooseMove(o *op) bool {
	o.dst = m.rng.IntN(len(m.arrays))
	if o.src = m.another(o.dst, func(*array) bool { return true }); o.src < 0 {
		return false
	}
	dst, src := &m.arrays[o.dst], &m.arrays[o.src]
	switch o.kind {
	case copyData:
		if m.one(2) {
			o.points = slices.DeleteFunc(m.some(src), func(i int64) bool { return !dst.has(i) })
			return len(o.points) > 0
		}
	case gatherData:
		if o.points = m.some(dst); m.one(3) {
			o.points = dst.points()
		}
		o.index = m.anyOf(src.points(), len(o.points))
	case scatterData:
		to := dst.points()
		m.rng.Shuffle(len(to), func(i, k int) { to[i], to[k] = to[k], to[i] })
		o.points = m.some(src)
		o.points = o.points[:min(len(o.points), len(to))]
		o.index = to[:len(o.points)]
	}
	return true
}

// another is an array that fits, and is not number i; -1 if there is none.
func (m *maker) another(i int, fits func(*array) bool) int {
	for _, k := range m.rng.Perm(len(m.arrays)) {
		if k != i && fits(&m.arrays[k]) {
			return k
		}
	}
	return -1
}

// some are points of a, in order: a run of them, or every few.
func (m *maker) some(a *array) (list []int64) {
	all := a.points()
	from := m.rng.IntN(len(all))
	to := from + 1 + m.rng.IntN(len(all)-from)
	step := 1 + m.rng.IntN(3)
	for i := from; i < to; i += step {
		list = append(list, all[i])
	}
	return list
}

// anyOf are n of the points, with repetitions.
func (m *maker) anyOf(points []int64, n int) []int64 {
	list := make([]int64, n)
	for k := range list {
		list[k] = points[m.rng.IntN(len(points))]
	}
	return list
}
