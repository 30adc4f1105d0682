package realmtest

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/golci/golci/rank"
	"github.com/golci/golci/realm"
)

var (
	seedFlag = flag.Uint64("seed", 0, "of the first random job; 0: another one each time")
	jobsFlag = flag.Int("jobs", 0, "how many random jobs a conduit gets; 0: a few")
)

// patience bounds a job.
const patience = 2 * time.Minute

// conduits are the configurations of the ways between the ranks of a process.
var conduits = []struct {
	name string
	cfg  rank.Config
}{
	{"local", rank.Config{Settings: map[string]string{"GOLCI_CONDUIT": "local"}}},
	{"udp", rank.Config{Settings: map[string]string{"GOLCI_CONDUIT": "udp"}}},
	{"faulty", rank.Config{
		Settings: map[string]string{
			"GOLCI_CONDUIT": "udp", "GOLCI_UDP_FAULTS": "loss=0.02,dup=0.05,reorder=0.2,seed=11",
		},
		Tuning: rank.Tuning{MinRTO: 200 * time.Microsecond},
	}},
}

// team executes plans with the ranks of one process, and compares what they end with.
func team(t *testing.T, cfg rank.Config, plans []*Plan) {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	var out bytes.Buffer
	err := realm.RunWith(plans[0].Ranks, cfg, func(rt *realm.Runtime) error {
		return ExecuteAll(ctx, rt, plans, &out)
	}, TestConfig)
	if want := Expected(plans); err != nil || out.String() != want {
		t.Errorf("%v, and the job ends with\n%s, want\n%s", err, &out, want)
	}
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
				team(t, c.cfg, Random(seed, jobs, n))
			})
		}
	}
}
