package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// layers lists the packages from the bottom up; an entry stands for what lies below its path, too. A package imports
// from layers below its own and, within its own, from its own entry only. docs/ARCHITECTURE.md draws the same.
var layers = [][]string{
	{
		"internal/addrs", "internal/arch", "internal/authconn", "internal/badnet", "internal/crc32c", "internal/dl",
		"internal/inside", "internal/invariants", "internal/nodelist", "internal/scenario", "internal/selection",
		"internal/settings",
	},
	{"internal/affinity", "internal/futex", "internal/machine", "internal/ofi", "internal/simd", "internal/tool"},
	{"internal/spin", "internal/topology"},
	{ // each stands alone
		"fult", "hashtable", "pool", "internal/board", "internal/realm", "internal/reliable", "internal/trace",
	},
	{
		"comm/conduit", "internal/boot", "internal/credit", "internal/exit", "internal/match", "internal/mpi/pure",
		"internal/pending", "internal/progress", "internal/request", "internal/schedule",
	},
	{"internal/abi", "internal/conduit"},
	{"comm/am"},
	{"comm/hsl", "comm/rank", "comm/rma"},
	{"comm", "comm/barrier", "realm"},
	{"internal/mpi"},
	{"mpi"},
	{"bench", "internal/mpitest", "internal/realmtest"},
	{"cmd", "examples", "internal/gasnettest", "internal/jobtest", "internal/lint", "internal/slurmtest"},
}

// alone lists packages that import less of the module than their layer may: only what lies under one of the paths, or
// is the path after a "=".
var alone = map[string][]string{
	"internal/credit": {"internal/invariants"},
	"internal/match":  {"internal/machine"},
	"internal/realm":  {"internal/realm", "internal/simd"},
	"internal/trace":  tools("internal/trace"),
	"realm": tools("comm/am", "comm/rank", "comm/rma", "comm/conduit", "fult", "internal/pending", "internal/progress",
		"internal/realm", "internal/request", "internal/trace"),
	"internal/schedule": {},
	"internal/mpi/pure": tools("internal/mpi/pure"),
	"internal/abi":      tools("internal/abi", "internal/mpi/pure"),
	"internal/reliable": {"internal/invariants"},
	"internal/boot/pmi": {},
	"internal/machine":  {"internal/arch"},
	"internal/request":  tools(),
	"comm/conduit":      tools("comm/conduit"),
	"internal/conduit":  tools("comm/conduit", "internal/conduit", "internal/reliable"),
	"internal/boot":     tools("internal/boot"),
	"fult":              tools("fult"),
	"hashtable":         tools("hashtable"),
	"pool":              tools("pool"),
	"bench/peers":       {"bench"},
	"internal/board":    tools("internal/board"),
	"internal/mpi/core": tools("=comm", "=comm/conduit", "=comm/rank", "internal/board", "fult", "internal/mpi",
		"internal/pending", "internal/progress", "internal/schedule"),
	"internal/mpi/win":  tools("=comm", "comm/am", "=comm/rank", "comm/rma", "fult", "internal/mpi", "internal/progress"),
	"internal/mpi/file": tools("=comm/rank", "internal/mpi"),
	"mpi":               tools("=comm", "=comm/rank", "fult", "internal/mpi", "mpi"),
	"cmd":               tools("cmd", "bench", "comm/rank", "internal/abi", "internal/boot", "internal/trace", "mpi"),
	"examples":          {"examples", "mpi", "fult", "realm"},
}

// tools returns more and the packages of the lowest layers, which know nothing of messages.
func tools(more ...string) []string {
	return slices.Concat(more, layers[0], layers[1], layers[2])
}

func under(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// place finds the layer and entry of a package by the longest entry that it lies under.
func place(path string) (layer int, entry string) {
	layer = -1
	for i, l := range layers {
		for _, e := range l {
			if under(path, e) && len(e) > len(entry) {
				layer, entry = i, e
			}
		}
	}
	return layer, entry
}

// badImport tells what is wrong with package from importing package to, both relative to the module; "" if nothing.
func badImport(from, to string) string {
	upper, entry := place(from)
	lower, other := place(to)
	switch {
	case upper < 0:
		return fmt.Sprintf("%s has no place in the table of layers", from)
	case lower > upper:
		return fmt.Sprintf("%s imports %s, which lies above it", from, to)
	case lower == upper && entry != other:
		return fmt.Sprintf("%s imports %s, which lies beside it", from, to)
	}
	for dir, allowed := range alone {
		if under(from, dir) && !anyUnder(to, allowed) {
			return fmt.Sprintf("%s imports %s; below %s only %q may be imported", from, to, dir, allowed)
		}
	}
	return ""
}

func anyUnder(path string, dirs []string) bool {
	for _, d := range dirs {
		exact, ok := strings.CutPrefix(d, "=")
		if ok && path == exact || !ok && under(path, d) {
			return true
		}
	}
	return false
}

func TestImportsPointDown(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, p := range packages(t, goos) {
			from := strings.TrimPrefix(p.ImportPath, module+"/")
			for _, i := range p.Imports {
				to, ours := strings.CutPrefix(i, module+"/")
				if !ours {
					continue
				}
				if wrong := badImport(from, to); wrong != "" {
					t.Errorf("%s: %s", goos, wrong)
				}
			}
		}
	}
}

// TestBadImport has the rule refuse what it must.
func TestBadImport(t *testing.T) {
	for _, c := range []struct {
		from, to string
		bad      bool
	}{
		{"mpi", "comm", false},
		{"comm", "mpi", true},
		{"comm/am", "comm", true},
		{"comm/am", "internal/credit", false},
		{"fult", "hashtable", true},
		{"fult", "internal/futex", false},
		{"bench/local", "hashtable", false},
		{"hashtable", "internal/lint", true},
		{"internal/credit", "internal/arch", true},
		{"internal/boot/pmi", "internal/boot", true},
		{"internal/conduit/shm", "internal/conduit/ring", false},
		{"internal/conduit/shm", "internal/boot", true},
		{"internal/conduit/shm", "internal/progress", true},
		{"comm/conduit", "fult", true},
		{"internal/arch", "internal/spin", true},
		{"examples/hello", "comm", true},
		{"mpi", "comm/rank", false},
		{"mpi", "comm/am", true},
		{"mpi", "internal/boot", true},
		{"mpi", "internal/conduit/shm", true},
		{"comm/rank", "comm", true},
		{"internal/mpi/pure/dtype", "internal/mpi/pure/errs", false},
		{"internal/mpi/pure/dtype", "internal/schedule", true},
		{"internal/mpi/pure/dtype", "internal/trace", true},
		{"internal/abi", "internal/mpi/pure/errs", false},
		{"internal/mpi/pure/errs", "internal/abi", true},
		{"internal/abi", "internal/schedule", true},
		{"surprise", "fult", true},
	} {
		if wrong := badImport(c.from, c.to); (wrong != "") != c.bad {
			t.Errorf("%s importing %s: %q", c.from, c.to, wrong)
		}
	}
}

// TestNoCgo keeps the default build free of C. The C library is a module of its own.
func TestNoCgo(t *testing.T) {
	for _, f := range goFiles(t) {
		for _, i := range f.ast.Imports {
			if i.Path.Value == `"C"` && f.dir() != "capi" {
				t.Errorf("%s imports C", f.at(i))
			}
		}
	}
}
