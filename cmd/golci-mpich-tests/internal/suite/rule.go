package suite

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Rule is one of MPICH's ways to tell from output and exit code whether a test passed.
type Rule uint8

const (
	Normal         Rule = iota // it says that there are no errors, nothing else, and ends well
	AllowWarnings              // as Normal; it may warn, too
	Status                     // it ends badly
	StatusNoErrors             // it says that there are no errors, and ends badly
	ErrFatal                   // it ends badly
	Bench                      // it ends well
)

var ruleNames = []string{"", "TestAllowWarnings", "TestStatus", "TestStatusNoErrors", "TestErrFatal", "TestBench"}

// parseRule finds a rule by the name that lists give it; the empty name is Normal.
func parseRule(name string) (Rule, error) {
	if i := slices.Index(ruleNames, name); i >= 0 {
		return Rule(i), nil
	}
	return Normal, fmt.Errorf("there is no rule %q", name)
}

// Verdict is what became of a run.
type Verdict uint8

const (
	Failed  Verdict = iota
	Passed          //
	Skipped         // the program itself says that it cannot be run here
)

func (v Verdict) String() string { return [...]string{"failed", "passed", "skipped"}[v] }

// what a row of output is.
var (
	noErrors = regexp.MustCompile(`^\s*No [Ee]rrors\s*$`)
	skipped  = regexp.MustCompile(`^\s*Test Skipped\s*$`)
	warning  = regexp.MustCompile(`^(?:MPICH: |WARNING: |(?:Abort.*)?application called MPI_Abort)`)
	harmless = regexp.MustCompile(`(?:FORTRAN STOP|requesting checkpoint|checkpoint completed)\s*$` +
		`|^srun: error: .*: signal: Communication connection failure` +
		`|psm3_sockets_tcp_recvhdrq_progress: First PKT received is not PSM pkt.`)
)

// seen is what rows of output were there.
type seen struct {
	noErrors bool
	skipped  bool
	warnings int
	strays   int
	stray    string // the first of them
}

func look(output string) (s seen) {
	for row := range strings.Lines(output) {
		row = strings.TrimSuffix(row, "\n")
		switch {
		case !s.noErrors && noErrors.MatchString(row):
			s.noErrors = true
		case skipped.MatchString(row):
			s.skipped = true
		case warning.MatchString(row):
			s.warnings++
			s.first(row)
		case harmless.MatchString(row):
		default:
			s.strays++
			s.first(row)
		}
	}
	return s
}

func (s *seen) first(row string) {
	if s.stray == "" {
		s.stray = row
	}
}

// Judge decides by the rule about a run that ended by itself. output has what all processes and the launcher wrote, to
// either stream; bad tells that the launcher's code was not 0. why is for the reader, empty if the run passed.
func (r Rule) Judge(output string, bad bool) (v Verdict, why string) {
	s := look(output)
	switch {
	case r == Bench:
		if bad {
			return Failed, "it ended badly"
		}
		return Passed, ""
	case r == Status || r == ErrFatal:
		if !bad {
			return Failed, "it ended well, and should not"
		}
		return passedOr(s)
	case !s.noErrors && (r == StatusNoErrors || !s.skipped):
		return Failed, "it does not say that there are no errors" + s.quote()
	case s.strays > 0 || r == Normal && s.warnings > 0:
		return Failed, "it says more than it should" + s.quote()
	case r == StatusNoErrors && !bad:
		return Failed, "it ended well, and should not"
	case r != StatusNoErrors && bad:
		return Failed, "it ended badly"
	}
	return passedOr(s)
}

// passedOr tells runs of which nothing was tested from those that passed.
func passedOr(s seen) (Verdict, string) {
	if s.skipped {
		return Skipped, "the program skips it"
	}
	return Passed, ""
}

// quote gives the first row that should not be there.
func (s *seen) quote() string {
	const widest = 100
	if s.stray == "" {
		return ""
	}
	return fmt.Sprintf(": %.*q", widest, s.stray)
}
