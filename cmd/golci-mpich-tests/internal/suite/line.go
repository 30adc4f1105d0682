package suite

import (
	"strconv"
	"strings"
	"time"
)

// Line is one run of a test's program.
type Line struct {
	Dir, Program string        // "errors/coll", "rerr"
	Procs        int           // how many processes
	Args         []string      // of the program
	Env          []string      // NAME=value
	LauncherArgs []string      // of mpiexec
	Limit        time.Duration // 0: the runner's
	Memory       float64       // GB that the program wants; 0: no more than others
	XFail        string        // why MPICH expects it to fail
	Rule         Rule
	NonStrict    bool // it tests more than the standard has
	GPU          bool // it wants one
}

// Name is the program with its directory.
func (l *Line) Name() string { return l.Dir + "/" + l.Program }

// Key names the line in our list: whatever makes it another run than its neighbours.
func (l *Line) Key() string { return l.key(func(string) bool { return true }) }

// plainKey is Key without MPICH's own variables: lines that differ in these only are the same run for other libraries.
func (l *Line) plainKey() string { return l.key(func(e string) bool { return !tuning(e) }) }

func (l *Line) key(keep func(env string) bool) string {
	var b strings.Builder
	b.WriteString(l.Name())
	b.WriteByte(' ')
	b.WriteString(strconv.Itoa(l.Procs))
	for _, a := range l.Args {
		b.WriteString(" arg=" + a)
	}
	for _, a := range l.LauncherArgs {
		b.WriteString(" mpiexecarg=" + a)
	}
	for _, e := range l.Env {
		if keep(e) {
			b.WriteString(" env=" + e)
		}
	}
	return b.String()
}

// tuning tells that the variable sets one of MPICH's own algorithms.
func tuning(env string) bool { return strings.HasPrefix(env, "MPIR_CVAR_") }

// isTuned tells that the line sets variables of MPICH.
func (l *Line) isTuned() bool {
	for _, e := range l.Env {
		if tuning(e) {
			return true
		}
	}
	return false
}
