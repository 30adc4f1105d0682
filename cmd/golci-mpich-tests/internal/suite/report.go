package suite

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// Row counts the lines of one directory.
type Row struct {
	Dir     string
	Lines   int // all
	Applies int // those that are expected to pass some time
	Ran     int
	Passed  int // of those that ran
	Known   int // of those that apply, expected to pass already
}

func (r *Row) add(o Row) {
	r.Lines += o.Lines
	r.Applies += o.Applies
	r.Ran += o.Ran
	r.Passed += o.Passed
	r.Known += o.Known
}

// apart are directories that the sum leaves out, with a sum of their own: few programs need what they test.
var apart = []string{"spawn", "io"}

// Count makes a row for each directory of the first level, then the sum without those apart, then theirs.
func Count(list *List, results []Result) (rows []Row) {
	by := make(map[string]*Row)
	row := func(key string) *Row {
		dir, _, _ := strings.Cut(key, "/")
		if by[dir] == nil {
			by[dir] = &Row{Dir: dir}
		}
		return by[dir]
	}
	for _, e := range list.Lines {
		r := row(e.Key)
		r.Lines++
		if e.Kind == Pass || e.Kind == Todo {
			r.Applies++
		}
		if e.Kind == Pass {
			r.Known++
		}
	}
	for _, res := range results {
		r := row(res.Key)
		r.Ran++
		if res.Verdict == Passed {
			r.Passed++
		}
	}
	sum, rest := Row{Dir: "all but " + strings.Join(apart, ", ")}, Row{Dir: strings.Join(apart, ", ")}
	for _, dir := range slices.SortedFunc(maps.Keys(by), cmp.Compare[string]) {
		rows = append(rows, *by[dir])
		if slices.Contains(apart, dir) {
			rest.add(*by[dir])
		} else {
			sum.add(*by[dir])
		}
	}
	return append(rows, sum, rest)
}

// Table is the text of rows.
func Table(rows []Row) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "directory\tlines\tapply\tpass in list\tpercent\tran\tpassed\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\t", r.Dir, r.Lines, r.Applies, r.Known, percent(r.Known, r.Applies))
		fmt.Fprintf(w, "%d\t%d\t\n", r.Ran, r.Passed)
	}
	_ = w.Flush() // a strings.Builder takes everything
	return b.String()
}

func percent(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100*float64(n)/float64(of))
}
