package bench

import (
	"cmp"
	"slices"
)

// Key names a figure that several implementations report.
type Key struct {
	Bench   string
	Size    int
	Threads int
}

// Key returns r's key.
func (r Row) Key() Key { return Key{r.Bench, r.Size, r.Threads} }

// Distinct lists the different values of f over rows, in the order of their first appearance.
func Distinct[T comparable](rows []Row, f func(Row) T) (all []T) {
	for _, r := range rows {
		if x := f(r); !slices.Contains(all, x) {
			all = append(all, x)
		}
	}
	return all
}

// Only returns the rows for which f holds.
func Only(rows []Row, f func(Row) bool) []Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return !f(r) })
}

// Medians returns one row for each key and implementation. It is the median of the rows in the most frequent state of
// the key, so that near is compared with near and far with far. An implementation that has no row in that state keeps
// the median of all, marked Mixed. Rows of one key stand together; keys and implementations are in the order of their
// first appearance.
func Medians(rows []Row) (out []Row) {
	impls := Distinct(rows, func(r Row) string { return r.Impl })
	for _, k := range Distinct(rows, Row.Key) {
		same := Only(rows, func(r Row) bool { return r.Key() == k })
		state := prevailing(same)
		for _, impl := range impls {
			if group := Only(same, func(r Row) bool { return r.Impl == impl }); len(group) > 0 {
				out = append(out, median(group, state))
			}
		}
	}
	return out
}

// prevailing finds the state that most rows share; the lesser name wins a draw, so that it is stable.
func prevailing(rows []Row) (best State) {
	most := 0
	for _, s := range []State{Far, Mixed, Near, Unknown} {
		if n := len(Only(rows, func(r Row) bool { return r.State == s })); n > most {
			best, most = s, n
		}
	}
	return best
}

func median(rows []Row, state State) Row {
	same := Only(rows, func(r Row) bool { return r.State == state })
	if len(same) == 0 {
		same = slices.Clone(rows)
		state = Mixed
	}
	slices.SortStableFunc(same, func(a, b Row) int { return cmp.Compare(a.Value, b.Value) })
	m := same[len(same)/2]
	m.State = state
	m.Reps = len(same)
	better := slices.Min[[]float64]
	if m.Best > m.Value {
		better = slices.Max
	}
	for _, r := range same {
		m.Best = better([]float64{m.Best, r.Best})
	}
	return m
}

// Compare fills in the ratios of golci's rows to peers and Raw. plain says whether a peer is at its defaults.
func Compare(rows []Row, plain func(impl string) bool) {
	for i := range rows {
		g := &rows[i]
		if !Ours(g.Impl) {
			continue
		}
		peer := func(impl string) bool { return !Ours(impl) && impl != Raw }
		g.VsPlain = least(*g, rows, func(impl string) bool { return peer(impl) && plain(impl) })
		g.VsBest = least(*g, rows, peer)
		g.VsRaw = least(*g, rows, func(impl string) bool { return impl == Raw })
	}
}

// least is how far ahead g is of the best of those that match; one that moved nothing is no rival.
func least(g Row, rows []Row, match func(impl string) bool) float64 {
	ahead := 0.0
	for _, p := range rows {
		if p.Key() != g.Key() || !match(p.Impl) {
			continue
		}
		if a := g.Ahead(p); a > 0 && (ahead == 0 || a < ahead) {
			ahead = a
		}
	}
	return ahead
}
