package bench

import (
	"fmt"
	"io"
	"strconv"
)

// Table prints rows as they come, in columns.
type Table struct {
	w          io.Writer
	last       string // benchmark of the row before
	peers, raw bool
}

// NewTable returns a table on w; peers and raw add the columns that compare with these.
func NewTable(w io.Writer, peers, raw bool) *Table { return &Table{w: w, peers: peers, raw: raw} }

// Row prints one row, below a heading when a new benchmark begins.
func (t *Table) Row(r Row) error {
	if r.Bench != t.last {
		if err := t.heading(); err != nil {
			return err
		}
		t.last = r.Bench
	}
	line := fmt.Sprintf("%-10s %-22s %9d %8d %12s %-10s %9s %7.0f/%-5.0f %-6s %7s", r.Bench, r.Impl, r.Size, r.Threads,
		Significant(r.Value), r.Unit, share(r), r.Before, r.After, r.State, times(r.InCrossings()))
	if t.peers {
		line += fmt.Sprintf(" %8s %8s", times(r.VsPlain), times(r.VsBest))
	}
	if t.raw {
		line += fmt.Sprintf(" %8s", times(r.VsRaw))
	}
	if r.Note != "" {
		line += "  " + r.Note
	}
	_, err := fmt.Fprintln(t.w, line)
	return err
}

func (t *Table) heading() error {
	line := fmt.Sprintf("%-10s %-22s %9s %8s %12s %-10s %9s %13s %-6s %7s", "bench", "impl", "size", "threads", "value",
		"unit", "min share", "crossing ns", "state", "x line")
	if t.peers {
		line += fmt.Sprintf(" %8s %8s", "/default", "/best")
	}
	if t.raw {
		line += fmt.Sprintf(" %8s", "/raw")
	}
	_, err := fmt.Fprintln(t.w, line)
	return err
}

// Significant writes v with four significant digits and without an exponent.
func Significant(v float64) string {
	switch {
	case v >= 1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

func share(r Row) string {
	if r.Threads <= 1 {
		return "-"
	}
	return strconv.FormatFloat(r.MinShare, 'f', 3, 64)
}

func times(x float64) string {
	if x == 0 {
		return "-"
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}
