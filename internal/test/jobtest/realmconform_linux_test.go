package jobtest

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/test/realmtest"
	"github.com/golci/golci/internal/test/tuningtest"
	"github.com/golci/golci/internal/transport/shm"
	"github.com/golci/golci/internal/transport/udp"
	"github.com/golci/golci/rank"
	"github.com/golci/golci/realm"
)

// conformRole is a rank of package realm that executes the conformance program.
const conformRole = "conform"

// realmConduits are the ways between processes, as flags of the launcher.
var realmConduits = []struct {
	name  string
	flags []string
}{
	{"shm", []string{"-env", settings.Conduit.Env() + "=" + shm.Name}},
	{"udp", []string{"-env", settings.Conduit.Env() + "=" + udp.Name}},
	{"faulty", []string{
		"-env", settings.Conduit.Env() + "=" + udp.Name, "-env",
		"GOLCI_UDP_FAULTS=loss=0.02,dup=0.05,reorder=0.2,seed=11", "-env", tuningtest.MinRTO + "=200us",
	}},
}

// realmRank starts a rank of package realm, runs f, and ends by Shutdown, for which rank 0 asks.
func realmRank(f func(ctx context.Context, rt *realm.Runtime) error) int {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	rt, err := realm.Start(ctx, rank.Config{
		Processors: true, QuitDump: true, Exit: os.Exit, Tuning: tuningtest.FromEnv(),
	}, realmtest.TestConfig)
	if err == nil {
		err = f(ctx, rt)
	}
	if err == nil && rt.Rank() == 0 {
		err = rt.Shutdown(realm.NoEvent)
	}
	if err == nil {
		err = rt.WaitForShutdown(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 3
	}
	return 0
}

// plansOf are the plans of a job of package realm: those of the conformance program, then random ones.
func plansOf(seed uint64, jobs, n int) []*realmtest.Plan {
	return append(realmtest.Conformance(n), realmtest.Random(seed, jobs, n)...)
}

func conform(ctx context.Context, rt *realm.Runtime) error {
	seed, err := strconv.ParseUint(os.Getenv(jobSeed), 10, 64)
	if err != nil {
		return err
	}
	jobs, err := strconv.Atoi(os.Getenv(jobCount))
	if err != nil {
		return err
	}
	var out strings.Builder
	err = realmtest.ExecuteAll(ctx, rt, plansOf(seed, jobs, rt.Size()), &out)
	fmt.Print(&out)
	return err
}

// TestRealmConform: real processes print the same bytes over each conduit, which are those of the serial execution.
func TestRealmConform(t *testing.T) {
	t.Parallel()
	seed, jobs := seedOfJobs(), max(2, *realmJobs)
	t.Logf("-realmseed %d", seed)
	for _, c := range realmConduits {
		for n := 1; n <= 4; n++ {
			if n != 3 && testing.Short() || n == 1 && c.name != shm.Name {
				continue
			}
			t.Run(fmt.Sprintf("%s/ranks=%d", c.name, n), func(t *testing.T) {
				t.Parallel()
				flags := append([]string{
					"-env", jobSeed + "=" + strconv.FormatUint(seed, 10), "-env",
					jobCount + "=" + strconv.Itoa(jobs),
				}, c.flags...)
				j := golci(t, ranks(n, conformRole, flags...)...)
				j.succeed()
				if got, want := j.out.String(), realmtest.Expected(plansOf(seed, jobs, n)); got != want {
					t.Errorf("the job prints\n%s, want\n%s\n%s", got, want, &j.err)
				}
			})
		}
	}
}
