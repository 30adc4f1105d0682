package nodelist

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const mostNodes = 1024

func TestNames(t *testing.T) {
	for in, want := range map[string]string{
		"a":                   "a",
		"n[1-2,7],gpu[01-03]": "n1 n2 n7 gpu01 gpu02 gpu03",
		"n[8-11]":             "n8 n9 n10 n11",
		"n[08-11]x,login-1":   "n08x n09x n10x n11x login-1",
		"r[1-2]n[1-2]":        "r1n1 r1n2 r2n1 r2n2",
		"[1-2]":               "1 2",
	} {
		if got, err := Names(in, mostNodes); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for _, in := range []string{
		"", ",", "a,", "n[", "n]", "n[]", "n[1-]", "n[-1]", "n[2-1]", "n[1-2", "n[[1]]", "n[a-b]", "n[1,]", "n[1-2-3]",
		"n[0-1023],m", "n[1-40]x[1-40]", "n[1-9999999999]", strings.Repeat("x", 300) + "[1]", strings.Repeat("[1]", 300),
	} {
		if got, err := Names(in, mostNodes); !errors.Is(err, Err) {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

func TestCounts(t *testing.T) {
	for in, want := range map[string][]int{
		"3,1": {3, 1}, "2(x3)": {2, 2, 2}, "4(x2),8": {4, 4, 8}, "7": {7},
	} {
		if got, err := Counts(in, len(want)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "0", "2(x1", "2(x0),1,1", "2(3)", "2x3", "1,", "-1,2", "1", "1,2,3"} {
		if got, err := Counts(in, 2); err == nil {
			t.Errorf("%q: %v", in, got)
		}
	}
}

// FuzzNames: names that come out are within the limits, and a list of them stands for itself.
func FuzzNames(f *testing.F) {
	f.Add("n[1-2,7],gpu[01-03]")
	f.Add("r[1-2]n[1-2]x,y")
	f.Fuzz(func(t *testing.T, in string) {
		names, err := Names(in, mostNodes)
		if err != nil {
			return
		}
		if len(names) == 0 || len(names) > mostNodes {
			t.Fatalf("%d names", len(names))
		}
		again, err := Names(strings.Join(names, ","), mostNodes)
		if err != nil || !slices.Equal(again, names) {
			t.Errorf("%q, then %q, %v", names, again, err)
		}
	})
}

// FuzzCounts: there is a number for each node, or an error.
func FuzzCounts(f *testing.F) {
	f.Add("3,1", 2)
	f.Add("2(x3)", 3)
	f.Fuzz(func(t *testing.T, in string, nodes int) {
		got, err := Counts(in, nodes)
		if err == nil && (len(got) != nodes || slices.Min(got) < 1) {
			t.Errorf("%q for %d nodes: %v", in, nodes, got)
		}
	})
}
