package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// pure is MPI's part that knows nothing of messages.
const pureMPI = "mpi/internal/{agree,attr,dtype,epoch,errs,fileview,group,hardware,info,meet,op,reqkind,topo}"

// pureRealm is what of package realm knows nothing of messages.
const pureRealm = "realm/internal/{barrier,event,reduce,reservation,space}"

// layers lists the packages from the bottom up; an entry stands for what lies below its path, too. A package imports
// from layers below its own and, within its own, from its own entry only. docs/ARCHITECTURE.md draws the same.
var layers = [][]string{
	{
		"internal/platform/addrs", "internal/platform/arch", "internal/platform/crc32c", "internal/platform/dl",
		"internal/platform/invariants", "internal/job/authconn", "internal/job/nodelist", "internal/transport/badnet",
		"internal/platform/runs", "internal/transport/selection", "internal/observe/settings",
	},
	{
		"internal/platform/affinity", "internal/platform/futex", "internal/platform/fi", "internal/platform/simd",
		"internal/observe/tool", "comm/internal/opstate",
	},
	{"internal/platform/spin", "internal/platform/topology"},
	{ // each stands alone
		"fult", "hashtable", "pool", "mpi/internal/shmcoll", pureRealm, "internal/transport/reliable",
		"internal/observe/trace",
	},
	{
		"conduit", "internal/job/boot", "internal/job/exit", "internal/transport/credit", "comm/internal/match", pureMPI,
		"internal/observe/pending", "internal/progress", "internal/request", "internal/schedule",
	},
	{"internal/abi", "internal/transport"},
	{"am"},
	{"am/hsl", "rank", "am/rma"},
	{"realm/internal/fault", "realm/internal/observe"},
	{"realm/internal/events"},
	{"comm", "am/barrier", "realm"},
	{"mpi/internal"},
	{"mpi"},
	{"internal/test", "mpi/internal/mpitest", "mpi/internal/abigen"},
	{"bench"},
	{"cmd", "examples"},
}

// alone lists packages that import less of the module than their layer may: only what lies under one of the paths. A
// path after a "=" stands for itself, not for what lies below it.
var alone = map[string][]string{
	"internal/transport/credit": {"internal/platform/invariants"},
	"comm/internal/match":       {"comm/internal/opstate"},
	"comm/internal/opstate":     {"internal/platform/arch"},
	pureRealm:                   {pureRealm, "internal/platform/runs", "internal/platform/simd"},
	"realm/internal/fault":      {"am", "conduit", "rank", pureRealm},
	"realm/internal/events":     tools("am", "conduit", "fult", "rank", "internal/request", "realm/internal"),
	"realm/internal/observe":    {"rank", "fult", "internal/request", "internal/observe/trace", pureRealm},
	"internal/observe/trace":    tools("internal/observe/trace"),
	"rank/internal/cores":       tools("internal/job/boot"),
	"rank/internal/terms":       tools("am", "conduit", "internal/transport"),
	"rank/internal/wiring":      tools("=rank/internal/terms", "conduit", "internal/job/boot", "internal/transport"),
	"rank/internal/ending": tools("=rank/internal/report", "conduit", "fult", "internal/job", "internal/progress",
		"internal/transport/udp/nic"),
	"rank/internal/report":   tools("am", "conduit", "fult", "internal/job/boot", "internal/transport"),
	"rank/internal/timeline": tools("am", "conduit", "fult", "internal/job/boot", "internal/observe/trace"),
	"realm": tools("am", "rank", "am/rma", "conduit", "fult", "internal/observe/pending", "internal/progress",
		"realm/internal", "internal/request", "internal/observe/trace"),
	"internal/schedule":           {},
	pureMPI:                       tools(pureMPI),
	"internal/abi":                tools("internal/abi"),
	"internal/transport/reliable": {"internal/platform/invariants"},
	"internal/job/boot/pmi":       {},
	"internal/request":            tools(),
	"conduit":                     tools("conduit"),
	"internal/transport":          tools("conduit", "internal/transport"),
	"internal/job/boot":           tools("internal/job/boot"),
	"fult":                        tools("fult"),
	"hashtable":                   tools("hashtable"),
	"pool":                        tools("pool"),
	"bench/peers":                 {"bench"},
	"mpi/internal/shmcoll":        tools("mpi/internal/shmcoll"),
	"mpi/internal/sentinel":       {"=comm", "=rank", "mpi/internal/errs"},
	"mpi/internal/coll/algorithm": {"=comm"},
	"mpi/internal/contextid":      {"=comm", "mpi/internal/sentinel"},
	"mpi/internal/arena":          {},
	"mpi/internal/signature":      {"=comm", "mpi/internal/dtype", "mpi/internal/sentinel"},
	"mpi/internal/notice":         {},
	"mpi/internal/coll/argument": {
		"=comm", "internal/schedule", "mpi/internal/dtype", "mpi/internal/errs", "mpi/internal/op",
		"mpi/internal/sentinel", "mpi/internal/signature",
	},
	"mpi/internal/coll": tools("=comm", "=conduit", "=rank", "mpi/internal/arena", "mpi/internal/coll",
		"mpi/internal/contextid", "mpi/internal/dtype", "mpi/internal/errs", "mpi/internal/notice", "mpi/internal/op",
		"mpi/internal/sentinel", "mpi/internal/shmcoll", "mpi/internal/signature", "fult", "internal/observe/pending",
		"internal/progress", "internal/schedule"),
	"mpi/internal/core": tools("=comm", "=conduit", "=rank", "mpi/internal/shmcoll", "fult", "mpi/internal",
		"internal/observe/pending", "internal/progress", "internal/schedule"),
	"mpi/internal/win":  tools("=comm", "am", "=rank", "am/rma", "fult", "mpi/internal", "internal/progress"),
	"mpi/internal/file": tools("=rank", "mpi/internal"),
	"=mpi":              tools("=comm", "=rank", "fult", "mpi/internal", "mpi"),
	"mpi/file":          tools("=comm", "=rank", "fult", "mpi/internal", "mpi"),
	"cmd": tools("cmd", "bench", "rank", "internal/abi", "internal/job/boot",
		"internal/observe/trace", "mpi"),
	"examples": {"examples", "mpi", "fult", "realm"},
}

// tools returns more and the packages of the lowest layers, which know nothing of messages.
func tools(more ...string) []string {
	return slices.Concat(more, layers[0], layers[1], layers[2])
}

// under tells that a path is dir or lies below it. Names between braces stand for one directory each.
func under(path, dir string) bool {
	before, names, several := strings.Cut(strings.TrimSuffix(dir, "}"), "{")
	if !several {
		return path == dir || strings.HasPrefix(path, dir+"/")
	}
	return slices.ContainsFunc(strings.Split(names, ","), func(name string) bool { return under(path, before+name) })
}

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
		if anyUnder(from, []string{dir}) && !anyUnder(to, allowed) {
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
		{"am", "comm", true},
		{"am", "internal/transport/credit", false},
		{"fult", "hashtable", true},
		{"fult", "internal/platform/futex", false},
		{"bench/ranks", "mpi", false},
		{"hashtable", "internal/test/lint", true},
		{"internal/transport/credit", "internal/platform/arch", true},
		{"internal/job/boot/pmi", "internal/job/boot", true},
		{"internal/transport/shm", "internal/transport/ring", false},
		{"internal/transport/shm", "internal/job/boot", true},
		{"internal/transport/shm", "internal/progress", true},
		{"conduit", "fult", true},
		{"internal/platform/arch", "internal/platform/spin", true},
		{"examples/hello", "comm", true},
		{"mpi", "rank", false},
		{"mpi", "am", true},
		{"mpi", "internal/job/boot", true},
		{"mpi", "internal/transport/shm", true},
		{"rank", "comm", true},
		{"rank/internal/timeline", "am", false},
		{"rank/internal/timeline", "rank", true},
		{"rank/internal/wiring", "rank/internal/terms", false},
		{"rank/internal/terms", "rank/internal/wiring", true},
		{"mpi/internal/dtype", "mpi/internal/errs", false},
		{"mpi/internal/dtype", "internal/schedule", true},
		{"mpi/internal/dtype", "internal/observe/trace", true},
		{"internal/abi", "mpi/internal/errs", true},
		{"mpi/internal/core", "comm", false},
		{"mpi/internal/core", "mpi/internal/coll", false},
		{"mpi/internal/coll", "mpi/internal/core", true},
		{"mpi/internal/coll/algorithm", "mpi/internal/core", true},
		{"mpi/internal/contextid", "mpi/internal/core", true},
		{"mpi/internal/signature", "mpi/internal/core", true},
		{"mpi/internal/core", "mpi", true},
		{"mpi/internal/core", "am", true},
		{"mpi/internal/errs", "internal/abi", true},
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
			if i.Path.Value == `"C"` && f.dir() != "mpi/capi" {
				t.Errorf("%s imports C", f.at(i))
			}
		}
	}
}
