package realm

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/golci/golci/bench"
)

// known is what Realm itself takes.
type known struct {
	bench string
	size  int
	value float64
	loop  string
}

// Source says where the figures of Realm come from.
const Source = "Realm: the best figures of Realm 25.06 (one rank, one processor, GASNet or no network), measured on a " +
	"machine of this kind, not in this run"

// knowns are the best figures of Realm.
var knowns = []known{
	{"create", 0, 82.6, "own loop, user events"},
	{"chain-build", 1024, 132, "own loop; median 166"},
	{"chain", 1024, 191, "own loop; median 3714, since its triggers are deferred to another thread"},
	{"fan-out", 16, 19.8, "event_throughput -l 32 -t 1 -f 16"},
	{"fan-out", 64, 8.7, "event_throughput -f 64"},
	{"spawn-after", 0, 181, "own loop"},
	{"run-after", 0, 286, "own loop"},
	{"run-chain", 0, 387, "task_throughput -tpp 1024 -chain"},
	{"spawn-run", 0, 262, "task_throughput -tpp 1024 -immed"},
	{"spawn40", 40, 172, "own loop"},
	{"spawn40-run", 40, 497, "own loop"},
	{"spawn-wait", 0, 1020, "own loop"},
	{"lock", 0, 69, "own loop"},
	{"lock-chain", 256, 480, "own loop; median 3348 to 15240"},
	{"lock-chains", 64, 1.53, "lock_chains -lpp 32 -cpp 64 -d 16; median 0.27"},
	{"lock-chains", 1024, 0.111, "lock_chains -lpp 32 -cpp 1024 -d 32"},
	{"barrier-alone", 0, 85, "own loop"},
	{"fold", dense, 34, "reducetest, dense fold, localized; 9.8 as it is"},
	{"fold", sparse, 5.6, "reducetest, sparse fold, localized; 0.31 as it is"},
	{"hop", 2, 3260, "the paper: two nodes, InfiniBand"},
	{"spawn-flood-run", 40, 900, "task_throughput -remote, two ranks; half of the tasks are local"},
}

func knownOf(r bench.Row) (k known) {
	for _, k := range knowns {
		if k.bench == r.Bench && k.size == r.Size && r.Impl == bench.Golci {
			return k
		}
	}
	return k
}

// line is a row as a line of JSON.
type line struct {
	bench.Row
	Realm  float64 `json:"realm,omitempty"` // the best figure of Realm
	Source string  `json:"realm_source,omitempty"`
}

// Printer returns what writes rows to w: each as a JSON object in a line, or in columns below a heading.
func Printer(w io.Writer, asJSON bool) func(bench.Row) error {
	if asJSON {
		enc := json.NewEncoder(w)
		return func(r bench.Row) error {
			k := knownOf(r)
			return enc.Encode(line{r, k.value, k.loop})
		}
	}
	headed := false
	return func(r bench.Row) error {
		head := ""
		if !headed {
			headed = true
			head = Source + "\n" + fmt.Sprintf(layout, "measure", "size", "median", "best", "unit", "crossing ns",
				"state", "x line",
				"Realm", "quartiles; Realm's loop")
		}
		_, err := io.WriteString(w, head+text(r))
		return err
	}
}

const layout = "%-24s %8s %9s %9s %-5s %11s %-6s %6s %8s  %s\n"

func text(r bench.Row) string {
	k := knownOf(r)
	name, realms, lines, note := r.Bench, "-", "-", r.Note
	if r.Impl != bench.Golci {
		name += " " + r.Impl[len(bench.Golci)+1:]
	}
	if k.value != 0 {
		realms = bench.Significant(k.value)
		note += "; " + k.loop
	}
	if x := crossings(r); x != 0 {
		lines = fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf(layout, name, fmt.Sprint(r.Size), bench.Significant(r.Value), bench.Significant(r.Best), r.Unit,
		fmt.Sprintf("%.0f/%.0f", r.Before, r.After), string(r.State), lines, realms, note)
}

// crossings is a time between ranks as a multiple of the crossing, 0 where that has no meaning.
func crossings(r bench.Row) float64 {
	for _, m := range slices.Concat(links(), floods(), locks(), barriers()) {
		if m.place != alone && m.is(r.Bench) && r.Unit == bench.Nano && r.Crossing > 0 {
			return r.Value / r.Crossing
		}
	}
	return r.InCrossings()
}
