package taskbench

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/golci/golci/bench"
)

// Show writes rows, which Best has returned, and their METG for share if that is not 0: as JSON objects in lines, or
// as a table.
func Show(w io.Writer, rows []Row, share float64, asJSON bool) error {
	var metgs []METG
	if share > 0 {
		metgs = METGs(rows, share)
	}
	if asJSON {
		enc := json.NewEncoder(w)
		for _, r := range rows {
			if err := enc.Encode(r); err != nil {
				return err
			}
		}
		for _, m := range metgs {
			if err := enc.Encode(m); err != nil {
				return err
			}
		}
		return nil
	}
	if err := showRows(w, rows); err != nil {
		return err
	}
	return showMETGs(w, metgs)
}

func showRows(w io.Writer, rows []Row) error {
	fmt.Fprintf(w, "%-20s %-22s %5s %5s %10s %10s %10s %-8s %10s\n", "type", "impl", "ranks", "cores", "iterations",
		"us/task", "rate", "unit", "efficiency")
	for _, r := range rows {
		rate, efficiency := "-", "-"
		if r.Unit != "" {
			rate, efficiency = bench.Significant(r.Rate), strconv.FormatFloat(r.Efficiency, 'f', 3, 64)
		}
		if _, err := fmt.Fprintf(w, "%-20s %-22s %5d %5d %10d %10s %10s %-8s %10s\n", r.Type, r.Impl, r.Ranks, r.Cores,
			r.Iterations, bench.Significant(r.PerTask), rate, perSecond(r.Unit), efficiency); err != nil {
			return err
		}
	}
	return nil
}

func perSecond(unit string) string {
	if unit == "" {
		return "-"
	}
	return "G" + unit + "/s"
}

func showMETGs(w io.Writer, all []METG) error {
	for i, m := range all {
		if i == 0 {
			fmt.Fprintf(w, "\n%-20s %-22s %5s %5s %12s %10s %10s %-8s %7s\n", "type", "impl", "ranks", "cores",
				fmt.Sprintf("METG(%g%%) us", 100*m.Share), "floor us", "peak", "unit", "of raw")
		}
		value, raw := bench.Significant(m.Time), "-"
		switch {
		case m.Time == 0:
			value = "none"
		case m.Below:
			value = "<" + value
		}
		if m.OfRaw > 0 {
			raw = strconv.FormatFloat(m.OfRaw, 'f', 2, 64)
		}
		if _, err := fmt.Fprintf(w, "%-20s %-22s %5d %5d %12s %10s %10s %-8s %7s\n", m.Type, m.Impl, m.Ranks, m.Cores,
			value, bench.Significant(m.Floor), bench.Significant(m.Peak), perSecond(m.Unit), raw); err != nil {
			return err
		}
	}
	return nil
}
