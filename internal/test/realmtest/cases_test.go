package realmtest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the results of the serial execution to testdata")

// TestExpected: the serial execution gives what is stored.
func TestExpected(t *testing.T) {
	for n := 1; n <= 4; n++ {
		name := filepath.Join("testdata", fmt.Sprintf("ranks%d.txt", n))
		if *rewrite {
			if err := os.WriteFile(name, []byte(Expected(Conformance(n))), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		stored, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := Expected(Conformance(n)); got != string(stored) {
			t.Errorf("%s differs from the serial execution:\n%s", name, got)
		}
	}
}

// TestConform: the ranks of a process end with what is stored, over each conduit.
func TestConform(t *testing.T) {
	for _, c := range conduits {
		for n := 1; n <= 4; n++ {
			if n == 3 || !testing.Short() {
				t.Run(fmt.Sprintf("%s/ranks=%d", c.name, n), func(t *testing.T) { team(t, c.cfg, Conformance(n)) })
			}
		}
	}
}

// TestCases: the cases have each kind of operation, with both outcomes where it may have both.
func TestCases(t *testing.T) {
	seen := make(map[kind][2]int)
	for _, p := range Conformance(3) {
		for k := range p.ops {
			o := &p.ops[k]
			x := seen[o.kind]
			x[min(len(o.causes), 1)]++
			seen[o.kind] = x
		}
	}
	for k := range kinds {
		if n := seen[k]; n[0] == 0 && k != cancel && k != failTask || n[1] == 0 {
			t.Errorf("kind %d: %d times done, %d times poisoned", k, n[0], n[1])
		}
	}
}
