// Package bench defines what every benchmark of golci and of its peers reports: a Row. Packages below it measure:
// crossing the machine, ranks the messages between ranks, peers the MPI implementations that are installed. Package
// suite puts them behind `golci bench`. Package contend is for benchmarks of package testing.
package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Units of Row.Value. A time is better when it is smaller, the others when they are larger.
const (
	PerSecond  = "messages/s"
	Micro      = "us"
	Nano       = "ns"
	MegaPerSec = "MB/s" // 1e6 bytes a second
	Hidden     = "% hidden"
)

// Golci is the Row.Impl of this module. Where the conduit was chosen, its name and mode follow: golci-udp-encrypt.
// Raw is what the system does by itself, no message passing: a limit, not a peer.
const (
	Golci = "golci"
	Raw   = "raw"
)

// Ours tells this module's rows, whatever they ran over.
func Ours(impl string) bool { return impl == Golci || strings.HasPrefix(impl, Golci+"-") }

// Row is one measured figure. Size is in bytes. Threads is the number of threads in each process. MinShare is the
// slowest thread's share of the mean (1 if there is one thread or nothing to share). Before and After are the times
// in ns of a cache line, one way between the two cores, before and after the measurement. They are 0 if they could
// not be measured. Crossing is their mean.
type Row struct {
	Bench    string  `json:"bench"`
	Impl     string  `json:"impl"`
	Size     int     `json:"size"`
	Threads  int     `json:"threads"`
	Value    float64 `json:"value"`
	Unit     string  `json:"unit"`
	MinShare float64 `json:"min_share"`
	Crossing float64 `json:"crossing_ns"`
	Before   float64 `json:"crossing_before_ns"`
	After    float64 `json:"crossing_after_ns"`
	State    State   `json:"state,omitempty"`
	Best     float64 `json:"best,omitempty"`          // of the rounds that Value is the median of; 0 if none is told
	Reps     int     `json:"reps,omitempty"`          // rows this one is the median of
	VsPlain  float64 `json:"ratio_default,omitempty"` // performance over the best peer at its defaults; above 1 is ahead
	VsBest   float64 `json:"ratio_best,omitempty"`    // the same over the best peer in any setting
	VsRaw    float64 `json:"ratio_raw,omitempty"`     // the same over Raw: 1 would be no cost at all
	Note     string  `json:"note,omitempty"`
	Axis     string  `json:"-"` // for charts: what Threads counts in this row, if not threads
}

// State says where the host had placed the two cores while a row was measured.
type State string

// The bounds are those of the first machines: a crossing within one core complex takes about 50 ns, one between
// complexes 100 to 250.
const (
	Near    State = "near"  // before and after under 90 ns
	Far     State = "far"   // both over 95 ns, and under 5 us
	Mixed   State = "mixed" // anything else; beyond 5 us the two sides had to share a core
	Unknown State = ""      // not measured
)

const (
	nearBelow = 90
	farAbove  = 95
	farBelow  = 5000
)

// StateOf classifies a pair of crossing times in ns.
func StateOf(before, after float64) State {
	switch {
	case before == 0 || after == 0:
		return Unknown
	case before < nearBelow && after < nearBelow:
		return Near
	case min(before, after) > farAbove && max(before, after) < farBelow:
		return Far
	}
	return Mixed
}

// SetCrossing records the crossing times (ns) around the measurement and what follows from them.
func (r *Row) SetCrossing(before, after float64) {
	r.Before, r.After = before, after
	r.Crossing = (before + after) / 2
	r.State = StateOf(before, after)
}

// Between puts the crossing times before and after measure into the rows that this returns, and hands them to out.
func Between(crossing func() (ns float64, err error), measure func() ([]Row, error), out func(Row)) error {
	before, err := crossing()
	if err != nil {
		return err
	}
	rows, err := measure()
	if err != nil {
		return err
	}
	after, err := crossing()
	if err != nil {
		return err
	}
	for _, r := range rows {
		r.SetCrossing(before, after)
		out(r)
	}
	return nil
}

// LargerIsBetter tells rates from times.
func (r Row) LargerIsBetter() bool {
	return r.Unit == PerSecond || r.Unit == MegaPerSec || r.Unit == Hidden
}

// Ahead returns how many times as fast r is as other: above 1, r is ahead. It is 0 when either has no value.
func (r Row) Ahead(other Row) float64 {
	if r.Value <= 0 || other.Value <= 0 {
		return 0
	}
	if r.LargerIsBetter() {
		return r.Value / other.Value
	}
	return other.Value / r.Value
}

// InCrossings returns a time as a multiple of the crossing time, 0 where that has no meaning.
func (r Row) InCrossings() float64 {
	switch {
	case r.Crossing == 0:
		return 0
	case r.Unit == Micro:
		return r.Value * 1000 / r.Crossing
	case r.Unit == PerSecond && r.Value > 0:
		return 1e9 / r.Value / r.Crossing
	}
	return 0
}

// ReadJSON calls f with every row in r. It skips lines that are no JSON objects, because launchers and MPI libraries
// write there, too. It returns the first error of r or of a line that begins like a row and is none.
func ReadJSON(r io.Reader, f func(Row)) error {
	s := bufio.NewScanner(r)
	for s.Scan() {
		line := strings.TrimSpace(s.Text())
		if !strings.HasPrefix(line, `{"bench"`) {
			continue
		}
		var row Row
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			return fmt.Errorf("bench: line %q: %w", line, err)
		}
		row.SetCrossing(row.Before, row.After)
		f(row)
	}
	return s.Err()
}
