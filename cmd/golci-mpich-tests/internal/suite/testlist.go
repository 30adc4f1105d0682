package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Strict is what configure puts for the names between at signs in lists, where only what the standard has is tested,
// in C.
var Strict = map[string]string{
	"partdir": "part", "rmadir": "rma", "spawndir": "spawn", "iodir": "io", "errordir": "errors", "threadsdir": "threads",
	"perfdir": "#", "ftdir": "#", "ckpointdir": "#", "faultsdir": "#", "f77dir": "#", "f90dir": "#", "f08dir": "#",
	"cxxdir": "#", "namepub_tests": "", "coll_error": "#", "comm_overlap": "", "mpix": "#", "impldir": "", "pmidir": "",
}

// maxDepth of directories. Lists nest twice today; a checkout whose lists name each other in a circle ends here.
const maxDepth = 8

// most is how many lines one suite may have.
const most = 100_000

// Load reads the list of the root and those of all directories that it names. A list is testlist.in, where the names
// between at signs are those of vars, or else testlist. Notes tell of what was passed over. The error is of class
// fs.ErrNotExist if there is no list in the root.
func Load(tests fs.FS, vars map[string]string) (lines []Line, notes []string, err error) {
	l := loader{tests: tests, vars: vars}
	if err := l.dir(".", 0); err != nil {
		return nil, nil, err
	}
	return l.lines, l.notes, nil
}

type loader struct {
	tests fs.FS
	vars  map[string]string
	lines []Line
	notes []string
}

func (l *loader) dir(dir string, depth int) error {
	name := path.Join(dir, "testlist.in")
	text, err := fs.ReadFile(l.tests, name)
	if errors.Is(err, fs.ErrNotExist) {
		name = path.Join(dir, "testlist")
		text, err = fs.ReadFile(l.tests, name)
	}
	if err != nil {
		return fmt.Errorf("suite: list of %s: %w", dir, err)
	}
	for i, row := range strings.Split(string(text), "\n") {
		at := fmt.Sprintf("%s:%d", name, i+1)
		words, notes := fields(row, l.vars)
		for _, n := range notes {
			l.note(at, n)
		}
		if len(words) == 0 {
			continue
		}
		if err := l.entry(at, dir, words, depth); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) note(at, text string) { l.notes = append(l.notes, at+": "+text) }

// entry takes one row of a list: a directory, or a test.
func (l *loader) entry(at, dir string, words []string, depth int) error {
	below := path.Join(dir, words[0])
	if !fs.ValidPath(below) {
		l.note(at, fmt.Sprintf("%q leads out of the tests", words[0]))
		return nil
	}
	if info, err := fs.Stat(l.tests, below); err == nil && info.IsDir() {
		if below == dir || depth == maxDepth {
			return fmt.Errorf("suite: %s: directories nest more than %d deep", at, maxDepth)
		}
		err := l.dir(below, depth+1)
		if errors.Is(err, fs.ErrNotExist) {
			l.note(at, fmt.Sprintf("%s has no list", below))
			return nil
		}
		return err
	}
	if len(l.lines) == most {
		return fmt.Errorf("suite: %s: more than %d lines", at, most)
	}
	line, notes, err := parse(dir, words)
	for _, n := range notes {
		l.note(at, n)
	}
	if err != nil {
		l.note(at, err.Error())
		return nil
	}
	l.lines = append(l.lines, line)
	return nil
}

var variable = regexp.MustCompile(`@\w+@`)

// fields are the words of a row without its comment. A name between at signs that vars lacks makes a comment of the
// rest, as configure does with what it switches off.
func fields(row string, vars map[string]string) (words, notes []string) {
	row, _, _ = strings.Cut(row, "#")
	row = variable.ReplaceAllStringFunc(row, func(name string) string {
		value, ok := vars[strings.Trim(name, "@")]
		if !ok {
			notes = append(notes, fmt.Sprintf("nothing is known of %s", name))
			return "#"
		}
		return value
	})
	row, _, _ = strings.Cut(row, "#")
	words = strings.Fields(row)
	if len(words) > 0 && strings.HasPrefix(words[0], "!") {
		return nil, append(notes, "commands are not run")
	}
	return words, notes
}

// defaultProcs is for lines that do not say how many.
const defaultProcs = 2

// maxProcs that a line may ask for.
const maxProcs = 1 << 20

// parse makes a line of the words of a row. Words that MPICH passes over give notes.
func parse(dir string, words []string) (l Line, notes []string, err error) {
	name := path.Join(dir, words[0])
	l = Line{Dir: path.Dir(name), Program: path.Base(name), Procs: defaultProcs}
	if len(words) == 1 {
		return l, nil, nil
	}
	n, err := strconv.Atoi(words[1])
	if err != nil || n < 1 || n > maxProcs {
		return l, nil, fmt.Errorf("%s cannot have %q processes", name, words[1])
	}
	l.Procs = n
	for _, word := range words[2:] {
		key, value, ok := strings.Cut(word, "=")
		if !ok || key == "" {
			notes = append(notes, fmt.Sprintf("%q is passed over", word))
			continue
		}
		note, err := l.set(key, value)
		if err != nil {
			return l, notes, fmt.Errorf("%s: %w", name, err)
		}
		if note != "" {
			notes = append(notes, note)
		}
	}
	return l, notes, nil
}

// set takes one key of a row with its value.
func (l *Line) set(key, value string) (note string, err error) {
	switch key {
	case "arg":
		l.Args = append(l.Args, value)
	case "mpiexecarg":
		l.LauncherArgs = append(l.LauncherArgs, value)
	case "env":
		if name, _, ok := strings.Cut(value, "="); !ok || name == "" {
			return fmt.Sprintf("%q is no variable with a value", value), nil
		}
		l.Env = append(l.Env, value)
	case "timeLimit":
		s, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			return fmt.Sprintf("%q is no limit of time", value), nil
		}
		l.Limit = time.Duration(s) * time.Second
	case "mem":
		l.Memory, err = strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(l.Memory) || l.Memory < 0 {
			return "", fmt.Errorf("%q is no amount of memory", value)
		}
	case "xfail":
		l.XFail = value
	case "resultTest":
		l.Rule, err = parseRule(value)
	case "strict":
		l.NonStrict = strings.EqualFold(value, "false")
	case "hasgpu":
		l.GPU = true
	case "lock", "init": // lines that take much run alone here, and hooks of Perl cannot be run
	default:
		return fmt.Sprintf("%q is passed over", key+"="+value), nil
	}
	return "", err
}
