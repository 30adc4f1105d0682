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

// Medians returns one row for each key and implementation. It is the median of the rows in the most frequent state of
// the key, so that near is compared with near and far with far. An implementation that has no row in that state keeps
// the median of all, marked Mixed. Rows of one key stand together; keys and implementations are in the order of their
// first appearance.
func Medians(rows []Row) []Row {
	states := prevailing(rows)
	var keys []Key
	var impls []string
	groups := map[Key]map[string][]Row{}
	for _, r := range rows {
		k := r.Key()
		if groups[k] == nil {
			groups[k] = map[string][]Row{}
			keys = append(keys, k)
		}
		groups[k][r.Impl] = append(groups[k][r.Impl], r)
		if !slices.Contains(impls, r.Impl) {
			impls = append(impls, r.Impl)
		}
	}
	var out []Row
	for _, k := range keys {
		for _, impl := range impls {
			if group := groups[k][impl]; group != nil {
				out = append(out, median(group, states[k]))
			}
		}
	}
	return out
}

// prevailing finds the state that most rows of each key share; the lesser name wins a draw, so that it is stable.
func prevailing(rows []Row) map[Key]State {
	count := map[Key]map[State]int{}
	for _, r := range rows {
		if count[r.Key()] == nil {
			count[r.Key()] = map[State]int{}
		}
		count[r.Key()][r.State]++
	}
	best := map[Key]State{}
	for k, states := range count {
		most := 0
		for _, s := range []State{Far, Mixed, Near, Unknown} {
			if states[s] > most {
				best[k], most = s, states[s]
			}
		}
	}
	return best
}

func median(rows []Row, state State) Row {
	same := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.State != state })
	if len(same) == 0 {
		same = slices.Clone(rows)
		state = Mixed
	}
	slices.SortStableFunc(same, func(a, b Row) int { return cmp.Compare(a.Value, b.Value) })
	m := same[len(same)/2]
	m.State = state
	m.Reps = len(same)
	return m
}

// Compare fills in the ratios of golci's rows. plain says whether an implementation is a peer at its defaults. Raw is
// not among the peers.
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
