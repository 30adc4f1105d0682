// Package scale tells what a job costs its ranks as it grows: its start, a barrier, credits, its end, and the death of
// a rank. It drives the state machines that a job runs, one for each rank, in virtual time. So it tells the messages,
// bytes and state of a job of 100,000 ranks without having one.
//
// The link is a model: a latency, an overhead for each message, and a rate. Counts of messages and bytes do not depend
// on it. Times do.
package scale

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/scale/vtime"
)

// Errors of Run, for errors.Is.
var (
	ErrConfig = errors.New("scale: bad configuration")
	ErrJob    = errors.New("scale: the simulated job went wrong")
)

// Config of a run. Zero values stand for the defaults.
type Config struct {
	Ranks   []int      // of the jobs, each 2 to MaxRanks; default: 64, 1024, 10000, 100000
	Only    []string   // of Measures; default: all
	PerNode int        // ranks on a node; default 16
	Link    vtime.Link // default: 20 us, 2 us for each message at either end, 10 Gbit/s
	Seed    uint64     // of the measure credits
}

// MaxRanks is the largest job.
const MaxRanks = 100_000

func (c Config) fill() (Config, error) {
	if len(c.Ranks) == 0 {
		c.Ranks = []int{64, 1024, 10_000, MaxRanks}
	}
	for _, n := range c.Ranks {
		if n < 2 || n > MaxRanks {
			return c, fmt.Errorf("%w: %d ranks are outside 2..%d", ErrConfig, n, MaxRanks)
		}
	}
	if c.PerNode == 0 {
		c.PerNode = 16
	}
	if c.PerNode < 1 || c.PerNode > MaxRanks {
		return c, fmt.Errorf("%w: %d ranks on a node are outside 1..%d", ErrConfig, c.PerNode, MaxRanks)
	}
	for _, name := range c.Only {
		if !slices.Contains(Measures(), name) {
			return c, fmt.Errorf("%w: measure %q; there are %q", ErrConfig, name, Measures())
		}
	}
	if c.Link == (vtime.Link{}) {
		c.Link = vtime.Link{Latency: 20 * time.Microsecond, Overhead: 2 * time.Microsecond, Rate: 1.25e9}
	}
	if c.Link.Latency < 0 || c.Link.Overhead < 0 || c.Link.Rate < 0 {
		return c, fmt.Errorf("%w: latency %v, overhead %v, rate %g", ErrConfig, c.Link.Latency, c.Link.Overhead, c.Link.Rate)
	}
	return c, nil
}

// Row is one measure of one job. Messages and bytes are those that a rank sends. State is what one rank's machines keep
// when all is over, but for what the note names.
type Row struct {
	Measure string `json:"measure" col:"measure|%-9s"`
	Ranks   int    `json:"ranks" col:"ranks|%7d"`
	// Rounds is how many messages follow one another from the first to the last; 0: not told.
	Rounds       int     `json:"rounds" col:"rounds|%7d|-"`
	MessagesMean float64 `json:"messages_mean" col:"messages|%10.1f"`
	MessagesMax  int64   `json:"messages_max" col:"max|%7d"`
	BytesMean    float64 `json:"bytes_mean" col:"bytes|%12.0f"`
	BytesMax     int64   `json:"bytes_max" col:"max|%11d"`
	Launcher     int64   `json:"launcher_messages" col:"launcher|%11d"` // that the launcher's server sends and receives
	State        int     `json:"state_bytes" col:"state|%10d"`
	Time         float64 `json:"time_us" col:"time us|%12.0f"` // virtual
	Note         string  `json:"note,omitempty"`
}

// outcome of a simulated job.
type outcome struct {
	time     time.Duration
	ranks    []vtime.Traffic
	launcher int64 // messages
	state    int
	rounds   int // where the measure counts them itself
}

// measure simulates one thing that happens to a job of n ranks.
type measure struct {
	name string
	note string
	// run simulates it. With a link that has a latency alone the time is the number of rounds.
	run    func(ctx context.Context, c Config, n int) (outcome, error)
	rounds bool // run tells the rounds so
}

var measures = []measure{
	{"start", "from the first word to the launcher to the end of the start barrier", start, true},
	{"barrier", "MPI_Barrier over messages", barrier, true},
	{
		"credits", "two epochs of requests to six neighbors; messages for credits alone; state of the ledger", credits,
		false,
	},
	{"exit", "all call Exit", exitAll, true},
	{"exit-one", "one calls Exit, the others settle for 50 ms", exitOne, false},
	{"death", "until all have judged a rank dead of which its neighbor heard", death, false},
}

// Measures lists what can be measured.
func Measures() []string {
	var names []string
	for _, m := range measures {
		names = append(names, m.name)
	}
	return names
}

// Run simulates what c says and hands each row to out. An error of out ends the run, and so does the end of ctx.
func Run(ctx context.Context, c Config, out func(Row) error) error {
	c, err := c.fill()
	if err != nil {
		return err
	}
	for _, m := range measures {
		if len(c.Only) > 0 && !slices.Contains(c.Only, m.name) {
			continue
		}
		for _, n := range c.Ranks {
			row, err := m.row(ctx, c, n)
			if err != nil {
				return fmt.Errorf("%s of %d ranks: %w", m.name, n, err)
			}
			if err := out(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// tight limits the collector to what is in use and a part of it, so that the largest job fits a small machine.
const tight = 40

// Show runs c and writes every row to w as it comes, as one JSON object in a line or in columns. It ends early, with
// the context's error, when ctx is cancelled.
func Show(ctx context.Context, c Config, w io.Writer, asJSON bool) error {
	defer debug.SetGCPercent(debug.SetGCPercent(tight))
	title := func(r Row) string { return fmt.Sprintf("# %s: %s\n", r.Measure, r.Note) }
	return Run(ctx, c, bench.Columns(w, asJSON, title))
}

// unit is a link on which time counts rounds.
var unit = vtime.Link{Latency: time.Microsecond}

func (m *measure) row(ctx context.Context, c Config, n int) (Row, error) {
	o, err := m.run(ctx, c, n)
	if err != nil {
		return Row{}, err
	}
	row := Row{
		Measure: m.name, Ranks: n, Rounds: o.rounds, Launcher: o.launcher, State: o.state, Note: m.note,
		Time: float64(o.time.Nanoseconds()) / 1e3,
	}
	var all vtime.Traffic
	for _, t := range o.ranks {
		all.Messages, all.Bytes = all.Messages+t.Messages, all.Bytes+t.Bytes
		row.MessagesMax, row.BytesMax = max(row.MessagesMax, t.Messages), max(row.BytesMax, t.Bytes)
	}
	row.MessagesMean, row.BytesMean = float64(all.Messages)/float64(n), float64(all.Bytes)/float64(n)
	if m.rounds {
		o.ranks = nil // the collector may have it
		c.Link = unit
		if o, err = m.run(ctx, c, n); err != nil {
			return row, err
		}
		row.Rounds = int(o.time / unit.Latency)
	}
	return row, nil
}
