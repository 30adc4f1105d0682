package suite

import (
	"path"
	"slices"
	"strings"
)

// Program is what compiling tells of a test's program.
type Program struct {
	Broken   bool     // it does not compile with the header of the ABI, or calls what is not in it
	Calls    []string // functions of MPI that it names itself, without MPI_ or PMPI_
	Families []string // of Calls, as the table of functions has them
}

// frame are the calls that a program has even if it tests nothing.
var frame = []string{"Init", "Init_thread", "Finalize", "Comm_rank", "Comm_size", "Abort", "Initialized", "Finalized"}

// order of the families: a line waits for the last one that it needs.
var order = []string{
	"init", "env", "handle", "status", "pt2pt", "request", "op", "collective", "group", "comm", "error", "info",
	"attribute", "datatype", "pack", "nonblocking", "persistent", "topology", "neighbor", "partitioned",
	"rma", "session", "tool", "process", "file",
}

// helpers are the functions of the suite's own library that need a family, by what their names begin with.
var helpers = []struct{ name, family string }{
	{"MTestGetIntercomm", "comm"},
	{"MTestGetComm", "comm"},
	{"MTestGetIntracomm", "comm"},
	{"MTestGetWin", "rma"},
	{"MTestFreeWin", "rma"},
	{"DTP_", "datatype"},
	{"MTestGetDatatypes", "datatype"},
	{"MTestSpawnPossible", "process"},
}

// NewProgram reads the names that an object leaves to the linker. family finds the family of a function.
func NewProgram(undefined []string, family func(name string) string) (p Program) {
	for _, name := range undefined {
		short, mpi := strings.CutPrefix(strings.TrimPrefix(name, "P"), "MPI_")
		if mpi {
			p.Calls = append(p.Calls, short)
			p.Broken = p.Broken || family(short) == ""
			p.add(family(short))
			continue
		}
		for _, h := range helpers {
			if strings.HasPrefix(name, h.name) {
				p.Calls = append(p.Calls, name)
				p.add(h.family)
			}
		}
	}
	return p
}

func (p *Program) add(family string) {
	if !slices.Contains(p.Families, family) {
		p.Families = append(p.Families, family)
	}
}

// nothing tells that the program tests nothing, unless its tests are of the start and the end.
func (p *Program) nothing() bool {
	return !slices.ContainsFunc(p.Calls, func(c string) bool { return !slices.Contains(frame, c) })
}

// waitsFor is the family that comes last in order; those that order lacks come after it.
func (p *Program) waitsFor() string {
	last, at := "init", 0
	for _, f := range p.Families {
		i := slices.Index(order, f)
		if i < 0 {
			i = len(order)
		}
		if i > at {
			last, at = f, i
		}
	}
	return last
}

// testsFrame tells that the line tests how programs start and end.
func (l *Line) testsFrame() bool { return path.Base(l.Dir) == "init" }

// launcherTests test what the launcher makes of a hang.
var launcherTests = []string{"init/timeout"}

// Classify gives the verdict for a line that the list lacks: what it is skipped for, or that it has to be done. program
// tells about its program; nil if that is not known. twin tells that another line is the same but for variables of
// MPICH.
func Classify(l *Line, twin bool, program *Program) Expected {
	e := Expected{Key: l.Key(), Kind: Skip}
	switch top, _, _ := strings.Cut(l.Dir, "/"); {
	case top == "impls" || top == "ft":
		e.Reason = top
	case program != nil && program.Broken:
		e.Reason = "abi"
	case l.NonStrict:
		e.Reason = "nonstrict"
	case l.GPU:
		e.Reason = "gpu"
	case program != nil && program.nothing() && !l.testsFrame():
		e.Kind, e.Reason = Empty, "ifdef"
	case twin:
		e.Reason = "cvar"
	case len(l.LauncherArgs) > 0 || slices.Contains(launcherTests, l.Name()):
		e.Reason = "mpiexec"
	case l.Memory > 0:
		e.Reason = "memory"
	case l.XFail != "":
		e.Reason = "xfail"
	case program == nil:
		e.Kind, e.Reason = Todo, "unknown"
	default:
		e.Kind, e.Reason = Todo, program.waitsFor()
	}
	return e
}

// Twins finds the lines that are the same as an earlier one, or one without them, but for variables of MPICH.
func Twins(lines []Line) map[string]bool {
	first := make(map[string]*Line)
	for i := range lines {
		l := &lines[i]
		if f := first[l.plainKey()]; f == nil || f.isTuned() && !l.isTuned() {
			first[l.plainKey()] = l
		}
	}
	twins := make(map[string]bool)
	for i := range lines {
		if l := &lines[i]; l.isTuned() && first[l.plainKey()].Key() != l.Key() {
			twins[l.Key()] = true
		}
	}
	return twins
}
