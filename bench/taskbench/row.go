package taskbench

import (
	"cmp"
	"slices"
	"time"
)

// Bench is Row.Bench, and METGBench is METG.Bench.
const (
	Bench     = "taskbench"
	METGBench = "metg"
)

// Row is what one implementation takes for a graph.
type Row struct {
	Bench      string  `json:"bench"`
	Impl       string  `json:"impl"`
	Type       string  `json:"type"`
	Kernel     string  `json:"kernel"`
	Width      int     `json:"width"`
	Steps      int     `json:"steps"`
	Payload    int     `json:"payload"`
	Ranks      int     `json:"ranks"`
	Cores      int     `json:"cores"` // that execute tasks
	Iterations int     `json:"iterations"`
	Tasks      int     `json:"tasks"`
	Work       int     `json:"work"`           // of all tasks
	Unit       string  `json:"unit,omitempty"` // of Work: FLOP or B
	Seconds    float64 `json:"seconds"`        // of the fastest run
	PerTask    float64 `json:"us_per_task"`    // time of a task: Seconds times Cores, by Tasks
	Rate       float64 `json:"giga_per_s"`     // Work by Seconds
	Efficiency float64 `json:"efficiency"`     // Rate by the highest rate of the implementation, which Best fills in
}

// NewRow makes the row of a sample of g.
func NewRow(impl string, g *Graph, ranks, cores int, s Sample) Row {
	r := Row{
		Bench: Bench, Impl: impl, Type: g.Type.String(), Kernel: g.Kernel.Kind.String(), Width: g.Width, Steps: g.Steps,
		Payload: g.Payload, Ranks: ranks, Cores: cores, Iterations: s.Iterations, Tasks: g.Tasks(), Work: s.Work,
		Unit: g.Kernel.Unit(),
	}
	r.took(s.Elapsed.Seconds())
	return r
}

func (r *Row) took(seconds float64) {
	r.Seconds = seconds
	r.PerTask = 1e6 * seconds * float64(r.Cores) / float64(r.Tasks)
	r.Rate = float64(r.Work) / max(seconds, time.Nanosecond.Seconds()) / 1e9
}

// METG is the smallest time of a task for which an implementation reaches Share of its highest rate.
type METG struct {
	Bench string  `json:"bench"`
	Impl  string  `json:"impl"`
	Type  string  `json:"type"`
	Ranks int     `json:"ranks"`
	Cores int     `json:"cores"`
	Share float64 `json:"share"`
	Time  float64 `json:"us"`               // 0: no sample reaches the share
	Below bool    `json:"below,omitempty"`  // the smallest sample reaches it, so METG is at most Time
	Floor float64 `json:"floor_us"`         // shortest time of a task
	Peak  float64 `json:"peak_giga_per_s"`  // highest rate
	Unit  string  `json:"unit"`             // of the rate: FLOP or B
	OfRaw float64 `json:"of_raw,omitempty"` // Peak by the highest rate of Raw on as many cores
}

// Best has one row for each implementation, type and number of iterations: the fastest one, with its efficiency.
// Rows of one type and one implementation stand together, those with most iterations first.
func Best(rows []Row) []Row {
	best := make(map[Row]float64)
	var order []Row
	for _, r := range rows {
		key := r.key()
		if s, ok := best[key]; !ok {
			order = append(order, key)
			best[key] = r.Seconds
		} else {
			best[key] = min(s, r.Seconds)
		}
	}
	groups := make(map[Row]int)
	for i := range order {
		order[i].took(best[order[i]])
		if g := order[i].group(); groups[g] == 0 {
			groups[g] = 1 + i
		}
	}
	slices.SortStableFunc(order, func(a, b Row) int {
		return cmp.Or(cmp.Compare(groups[a.group()], groups[b.group()]), cmp.Compare(b.Iterations, a.Iterations))
	})
	for _, g := range Groups(order) {
		peak := slices.MaxFunc(g, func(a, b Row) int { return cmp.Compare(a.Rate, b.Rate) }).Rate
		for i := range g {
			if peak > 0 {
				g[i].Efficiency = g[i].Rate / peak
			}
		}
	}
	return order
}

// key is what rows of one figure share.
func (r Row) key() Row {
	r.Seconds, r.PerTask, r.Rate, r.Efficiency = 0, 0, 0, 0
	return r
}

// group is what rows of one curve share.
func (r Row) group() Row {
	r = r.key()
	r.Iterations, r.Work = 0, 0
	return r
}

// Groups parts rows, in the order of Best, into curves. They share the memory of rows.
func Groups(rows []Row) (all [][]Row) {
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].group() == rows[0].group() {
			n++
		}
		all = append(all, rows[:n:n])
		rows = rows[n:]
	}
	return all
}

// Granularity is the METG of a curve, which Best has returned: the time of a task at which its efficiency is share.
// Between two samples it is linear.
func Granularity(curve []Row, share float64) METG {
	rows := slices.SortedStableFunc(slices.Values(curve), func(a, b Row) int {
		return cmp.Compare(a.PerTask,
			b.PerTask)
	})
	first := rows[0]
	m := METG{
		Bench: METGBench, Impl: first.Impl, Type: first.Type, Ranks: first.Ranks, Cores: first.Cores, Share: share,
		Floor: first.PerTask, Unit: first.Unit,
	}
	for i, r := range rows {
		m.Peak = max(m.Peak, r.Rate)
		if r.Efficiency < share || m.Time > 0 {
			continue
		}
		m.Time, m.Below = r.PerTask, i == 0
		if i > 0 {
			before := rows[i-1]
			part := (share - before.Efficiency) / (r.Efficiency - before.Efficiency)
			m.Time = before.PerTask + part*(r.PerTask-before.PerTask)
		}
	}
	return m
}

// RawImpl is Row.Impl of Raw.
const RawImpl = "raw"

// METGs are those of all curves in rows, which Best has returned.
func METGs(rows []Row, share float64) (all []METG) {
	raw := make(map[string]float64) // peaks by type
	for _, curve := range Groups(rows) {
		if curve[0].Unit == "" {
			continue
		}
		m := Granularity(curve, share)
		if m.Impl == RawImpl {
			raw[m.Type] = m.Peak / float64(m.Cores)
		}
		all = append(all, m)
	}
	for i := range all {
		if peak := raw[all[i].Type]; peak > 0 {
			all[i].OfRaw = all[i].Peak / peak / float64(all[i].Cores)
		}
	}
	return all
}
