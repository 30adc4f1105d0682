// Package suite is `golci bench`. It runs benchmarks by name where they belong: in this process, in a job of golci's
// ranks, or in jobs of the peers. It prints, compares and draws the results.
package suite

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/golci/golci/bench/ranks"
	"github.com/golci/golci/bench/realm"
	"github.com/golci/golci/bench/twin"
	"github.com/golci/golci/internal/observe/settings"
)

// Errors of Run, for errors.Is.
var (
	ErrName  = errors.New("bench: no such benchmark")
	ErrUsage = errors.New("bench: bad arguments")
)

type kind int

const (
	pair    kind = iota // the first two ranks of a job
	whole               // all ranks of a job
	sole                // two ranks, a job of its own for each number of threads, since a peer may not survive one
	active              // two ranks without package mpi; a job of its own
	virtual             // ranks in this process or none at all, and rows of its own
	either              // jobs, this process or a rank of a job, and rows of its own; a job of its own
	tasked              // ranks of package realm, in jobs of one rank and of several
)

type spec struct {
	name    string
	kind    kind
	peers   bool // a program in bench/peers has it
	sizes   []int
	threads []int
	least   int           // smallest size
	window  time.Duration // least length of a timed loop
	chosen  bool          // window is the user's
	workers int           // of a rank; 0 leaves it to the launcher
	asked   bool          // runs only when it is named, not as one of all
	only    []string      // measures of realm; nil for all
}

const (
	kib = 1 << 10
	mib = 1 << 20
)

// Sizes that several benchmarks take.
var (
	none      = []int{0}
	small     = []int{8}
	reducible = []int{8, kib, 64 * kib, mib}
	exchanged = []int{8, kib, 64 * kib}
	hidden    = []int{8, 8 * kib, 64 * kib, mib}
	columns   = []int{64, kib, 8 * kib, 64 * kib, mib}
	remote    = []int{8, 64, 4 * kib, 64 * kib, mib}
)

// specs holds the defaults, in the order of "all". Unless told, there is one thread, and the window is 200 ms.
var specs = []spec{
	{name: "latency", kind: pair, peers: true, sizes: []int{0, 8, 64, kib, 8 * kib, 64 * kib, mib}},
	{name: "bandwidth", kind: pair, peers: true, sizes: []int{8, 64, kib, 8 * kib, 64 * kib, mib, 4 * mib}, least: 1},
	{name: "bibw", kind: pair, peers: true, sizes: []int{8, 64, kib, 8 * kib, 64 * kib, mib}, least: 1},
	{name: "rate", kind: pair, peers: true, sizes: small, window: 300 * time.Millisecond},
	{
		name: "threads", kind: sole, peers: true, sizes: small, threads: []int{1, 2, 4, 16, 64, 256, 1024}, least: 8,
		window: time.Second,
	},
	{name: ranks.Tail, kind: pair, sizes: []int{8, 64 * kib}, window: 500 * time.Millisecond, asked: true},
	{
		name: ranks.Asserts, kind: pair, sizes: []int{8, 16 * kib, 64 * kib, 256 * kib, mib},
		window: 500 * time.Millisecond,
		asked:  true,
	},
	{name: ranks.FirstCall, kind: pair, peers: true, sizes: none, window: time.Second, asked: true},
	{name: "barrier", kind: whole, peers: true, sizes: none},
	{name: "bcast", kind: whole, peers: true, sizes: reducible, least: 1},
	{name: "allreduce", kind: whole, peers: true, sizes: reducible, least: 4},
	{name: "reduce", kind: whole, peers: true, sizes: []int{8, 8 * kib, 800 * kib, 8 * mib}, least: 4},
	{name: "reduce_scatter", kind: whole, peers: true, sizes: exchanged, least: 4},
	{name: "allgather", kind: whole, peers: true, sizes: exchanged, least: 1},
	{name: "alltoall", kind: whole, peers: true, sizes: exchanged, least: 1},
	{name: "alltoallv", kind: whole, peers: true, sizes: exchanged, least: 1},
	{name: "ibcast", kind: whole, sizes: hidden, threads: []int{1, 2}, least: 4, asked: true},
	{name: "iallreduce", kind: whole, sizes: hidden, threads: []int{1, 2}, least: 4, asked: true},
	{name: "iallgather", kind: whole, sizes: hidden, threads: []int{1, 2}, least: 4, asked: true},
	{name: "ialltoall", kind: whole, sizes: hidden, threads: []int{1, 2}, least: 4, asked: true},
	{name: "vector", kind: pair, peers: true, sizes: columns, least: 8},
	{name: "packed", kind: pair, peers: true, sizes: columns, least: 8},
	{name: "winput", kind: pair, peers: true, sizes: []int{8, mib}, least: 8},
	{name: "winget", kind: pair, peers: true, sizes: []int{8, mib}, least: 8},
	{name: "accumulate", kind: pair, peers: true, sizes: []int{8, 4 * kib}, least: 8},
	{name: "fetch_and_op", kind: pair, peers: true, sizes: small, least: 8},
	{name: twin.Active, kind: active, peers: true, sizes: []int{0, 512, 4096}},
	{name: twin.Flow, kind: active, sizes: []int{8, kib}, least: 8, window: 400 * time.Millisecond},
	{name: twin.Put, kind: active, sizes: remote, least: 8, window: 400 * time.Millisecond},
	{name: twin.Get, kind: active, sizes: remote, least: 8, window: 400 * time.Millisecond},
	{name: twin.Notify, kind: active, peers: true, sizes: small, least: 8},
	{name: ranks.Million, kind: sole, sizes: small, threads: []int{500_000}, least: 8, workers: 2, asked: true},
	{name: realm.Name, kind: tasked, sizes: none, window: 100 * time.Millisecond, asked: true},
	{name: taskBench, kind: either, asked: true},
	{name: scaleName, kind: virtual, asked: true},
	{name: reliableName, kind: virtual, sizes: []int{64 * kib}, least: 1, asked: true},
	{name: creditsName, kind: virtual, asked: true},
}

// The benchmarks of packages scale, credits and reliable.
const (
	scaleName    = "scale"
	creditsName  = "credits"
	reliableName = "reliable"
)

// Names lists the benchmarks in the order in which "all" runs them, and then those that it leaves out.
func Names() []string {
	names := make([]string, len(specs))
	for i, s := range specs {
		names[i] = s.name
	}
	return names
}

// ofAll lists the benchmarks that "all" stands for; with carried only those that a conduit can be chosen for.
func ofAll(carried bool) (names []string) {
	for _, s := range specs {
		if !s.asked && (s.carried() || !carried) {
			names = append(names, s.name)
		}
	}
	return names
}

// choose returns the specs named, with the sizes, threads and window that c asks for in place of the defaults.
func choose(c Config) ([]spec, error) {
	names := c.Names
	if slices.Contains(names, "all") {
		names = ofAll(c.Conduit != "")
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%w: name one of %s, or all", ErrName, strings.Join(Names(), ", "))
	}
	var chosen []spec
	for _, name := range names {
		i := slices.IndexFunc(specs, func(s spec) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("%w: %q; there are %s, and all", ErrName, name, strings.Join(Names(), ", "))
		}
		s, err := specs[i].with(c)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, s)
	}
	return chosen, nil
}

// with fills in what c asks for, and the defaults.
func (s spec) with(c Config) (spec, error) {
	s.window = cmp.Or(s.window, 200*time.Millisecond)
	if s.threads == nil {
		s.threads = []int{1}
	}
	if len(c.Sizes) > 0 && len(s.sizes) > 0 && s.sized() {
		s.sizes = c.Sizes
	}
	if len(c.Threads) > 0 && s.threaded() {
		s.threads = c.Threads
	}
	if c.Duration > 0 {
		s.window, s.chosen = c.Duration, true
	}
	for _, size := range s.sizes {
		if size < s.least {
			return s, fmt.Errorf("%w: %s needs sizes of at least %d, not %d", ErrUsage, s.name, s.least, size)
		}
	}
	for _, n := range s.threads {
		if n < 1 {
			return s, fmt.Errorf("%w: %d threads", ErrUsage, n)
		}
	}
	if s.only = c.Only; len(c.Only) > 0 {
		if s.name == scaleName {
			return s, nil // which knows its measures itself
		}
		if s.kind != tasked {
			return s, fmt.Errorf("%w: -only is for %s and %s, not for %s", ErrUsage, realm.Name, scaleName, s.name)
		}
		if _, err := realm.PlanFor(c.Only); err != nil {
			return s, errors.Join(ErrUsage, err)
		}
	}
	switch {
	case c.Conduit != "" && !s.carried() && !(s.name == reliableName && c.Real):
		return s, fmt.Errorf("%w: no conduit can be chosen for %s", ErrUsage, s.name)
	case c.N == anyRanks:
	case (s.kind == sole || s.kind == active) && c.N != 2:
		return s, fmt.Errorf("%w: %s needs exactly two ranks, not %d", ErrUsage, s.name, c.N)
	case s.kind == pair && c.N < 2:
		return s, fmt.Errorf("%w: %s needs two ranks", ErrUsage, s.name)
	}
	return s, nil
}

// carried says whether package mpi carries the messages, which chooses the conduit.
func (s spec) carried() bool { return s.kind == pair || s.kind == whole || s.kind == sole }

func (s spec) sized() bool {
	return s.kind == pair && s.name != ranks.FirstCall || s.kind == active || s.kind == whole && s.name != "barrier" ||
		s.name == reliableName
}

func (s spec) threaded() bool { return s.kind == sole }

// ParseList reads a list of numbers with commas; k and m (or Ki, Mi, KiB, MiB) multiply by 1024 and 1024 squared.
func ParseList(list string) ([]int, error) {
	return parseList(list, func(item string) (int, error) {
		n, err := settings.ParseSize(item)
		if err != nil || n > 1<<40 {
			return 0, fmt.Errorf("%w: %q is not a number from 0 to 1024G", ErrUsage, item)
		}
		return int(n), nil
	})
}

// parseList reads a list of items with commas; empty ones are left out.
func parseList[T any](list string, parse func(item string) (T, error)) (out []T, err error) {
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		x, err := parse(item)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

func joinList(list []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ",")
}
