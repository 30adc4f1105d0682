package realmtest

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/golci/golci/comm/rank"
	"github.com/golci/golci/realm"
)

var (
	seedFlag = flag.Uint64("seed", 0, "of the first random job; 0: another one each time")
	jobsFlag = flag.Int("jobs", 0, "how many random jobs a conduit gets; 0: a few")
)

// patience bounds a job.
const patience = 2 * time.Minute

// conduits are the settings of the ways between the ranks of a process.
var conduits = []struct {
	name     string
	settings map[string]string
}{
	{"local", map[string]string{"GOLCI_CONDUIT": "local"}},
	{"udp", map[string]string{"GOLCI_CONDUIT": "udp"}},
	{"faulty", map[string]string{
		"GOLCI_CONDUIT": "udp", "GOLCI_UDP_FAULTS": "loss=0.02,dup=0.05,reorder=0.2,seed=11", "GOLCI_UDP_MINRTO": "200us",
	}},
}

// team executes plans one after the other with the ranks of one process, and returns the texts.
func team(t *testing.T, settings map[string]string, plans ...*Plan) []string {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	texts := make([]string, len(plans))
	err := realm.RunWith(plans[0].Ranks, rank.Config{Settings: settings}, func(rt *realm.Runtime) error {
		for i, p := range plans {
			text, err := Execute(ctx, rt, p, int64(i))
			if err != nil {
				return fmt.Errorf("seed %d of %d ranks: %w", p.Seed, p.Ranks, err)
			}
			if rt.Rank() == 0 {
				texts[i] = text
			}
		}
		return nil
	}, TestConfig)
	if err != nil {
		t.Error(err)
	}
	return texts
}

// TestRandomJobs: jobs of random operations end as one operation after the other does.
func TestRandomJobs(t *testing.T) {
	seed, jobs := *seedFlag, *jobsFlag
	if seed == 0 {
		seed = rand.Uint64N(1 << 40)
	}
	if jobs == 0 {
		if jobs = 4; testing.Short() {
			jobs = 2
		}
	}
	t.Logf("-seed %d", seed)
	for _, c := range conduits {
		for n := 2; n <= 4; n++ {
			t.Run(fmt.Sprintf("%s/ranks=%d", c.name, n), func(t *testing.T) {
				var plans []*Plan
				for i := range jobs {
					plans = append(plans, New(seed+uint64(i), Config{Ranks: n, Ops: 150}))
				}
				for i, got := range team(t, c.settings, plans...) {
					if want := plans[i].Text(); got != want && !t.Failed() {
						t.Errorf("-seed %d ends with\n%s, want\n%s", plans[i].Seed, got, want)
					}
				}
			})
		}
	}
}
