package suite

import (
	"fmt"
	"strings"
	"testing"
)

// TestJudge: what each rule makes of each output, with a good end and a bad one. P, F, S stand for the verdicts, in the
// order of the rules.
func TestJudge(t *testing.T) {
	for _, c := range []struct{ output, good, bad string }{
		{"", "FFFFFP", "FFPFPF"},
		{" No Errors\n", "PPFFFP", "FFPPPF"},
		{"No errors", "PPFFFP", "FFPPPF"},
		{"\t No Errors \r\n", "PPFFFP", "FFPPPF"},
		{"no errors\n", "FFFFFP", "FFPFPF"},
		{"No Errors!\n", "FFFFFP", "FFPFPF"},
		{"x No Errors\n", "FFFFFP", "FFPFPF"},
		{"No Errors\nNo Errors\n", "FFFFFP", "FFPFPF"},
		{"No Errors\n\n", "FFFFFP", "FFPFPF"},
		{"hello\nNo Errors\n", "FFFFFP", "FFPFPF"},
		{"Found 3 errors\n", "FFFFFP", "FFPFPF"},
		{"WARNING: x\nNo Errors\n", "FPFFFP", "FFPPPF"},
		{"MPICH: x\nNo Errors\n", "FPFFFP", "FFPPPF"},
		{"No Errors\napplication called MPI_Abort(1)\n", "FPFFFP", "FFPPPF"},
		{"No Errors\nAbort(1): application called MPI_Abort(1)\n", "FPFFFP", "FFPPPF"},
		{"No Errors\nthe application called MPI_Abort(1)\n", "FFFFFP", "FFPFPF"},
		{"FORTRAN STOP\nNo Errors\n", "PPFFFP", "FFPPPF"},
		{"requesting checkpoint\ncheckpoint completed \nNo Errors\n", "PPFFFP", "FFPPPF"},
		{"srun: error: n: signal: Communication connection failure\nNo Errors\n", "PPFFFP", "FFPPPF"},
		{"Test Skipped\n", "SSFFFP", "FFSFSF"},
		{" Test Skipped \nNo Errors\n", "SSFFFP", "FFSSSF"},
		{"Test Skipped today\n", "FFFFFP", "FFPFPF"},
	} {
		for r := Normal; r <= Bench; r++ {
			for bad, want := range map[bool]string{false: c.good, true: c.bad} {
				v, why := r.Judge(c.output, bad)
				if got := strings.ToUpper(v.String()[:1]); got != want[r:r+1] {
					t.Errorf("rule %d, %q, bad %t: %v (%s), want %c", r, c.output, bad, v, why, want[r])
				}
				if (why == "") != (v == Passed) {
					t.Errorf("rule %d, %q: %v with the reason %q", r, c.output, v, why)
				}
			}
		}
	}
}

func TestWhyQuotes(t *testing.T) {
	_, why := Normal.Judge("first\nsecond\nNo Errors\n", false)
	if !strings.Contains(why, "first") || strings.Contains(why, "second") {
		t.Errorf("%s: want the first stray row", why)
	}
	_, why = Normal.Judge(strings.Repeat("x", 10_000), false)
	if len(why) > 300 {
		t.Errorf("a reason of %d bytes", len(why))
	}
}

func TestParseRule(t *testing.T) {
	for i, name := range ruleNames {
		if r, err := parseRule(name); err != nil || int(r) != i {
			t.Errorf("%q: %d, %v", name, r, err)
		}
	}
	if _, err := parseRule("TestNormal"); err == nil {
		t.Error("a rule that lists do not have")
	}
}

func ExampleRule_Judge() {
	v, why := Normal.Judge("Found 1 errors\n", false)
	fmt.Println(v, "-", why)
	// Output: failed - it does not say that there are no errors: "Found 1 errors"
}
