package realmtest

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/golci/golci/comm/rank"
	"github.com/golci/golci/realm"
)

var rewrite = flag.Bool("rewrite", false, "write the results of the serial execution to testdata")

// TestExpected: the serial execution gives what is stored.
func TestExpected(t *testing.T) {
	for n := 1; n <= 4; n++ {
		name := filepath.Join("testdata", fmt.Sprintf("ranks%d.txt", n))
		if *rewrite {
			if err := os.WriteFile(name, []byte(Expected(n)), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		stored, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := Expected(n); got != string(stored) {
			t.Errorf("%s differs from the serial execution:\n%s", name, got)
		}
	}
}

// TestConform: the ranks of a process end with what is stored, over each conduit.
func TestConform(t *testing.T) {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	for _, c := range conduits {
		for n := 1; n <= 4; n++ {
			if testing.Short() && n != 3 {
				continue
			}
			var out bytes.Buffer
			err := realm.RunWith(n, rank.Config{Settings: c.settings}, func(rt *realm.Runtime) error {
				return Conform(ctx, rt, &out)
			}, TestConfig)
			if want := Expected(n); err != nil || out.String() != want {
				t.Errorf("%d ranks over %s: %v\n%s, want\n%s", n, c.name, err, &out, want)
			}
		}
	}
}

// TestCases: the cases have each kind of operation, with both outcomes where it may have both.
func TestCases(t *testing.T) {
	seen := make(map[kind][2]int)
	for i, c := range Cases {
		p := c.plan(i, 3)
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
