package jobtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/golci/golci/internal/mpitest"
	"github.com/golci/golci/mpi"
)

// programsOfJob is how many random programs of MPI a job executes.
const programsOfJob = 3

// roleRandom executes random programs and prints the digest of each. Threads are of all kinds in turn.
func roleRandom(c *mpi.Comm) error {
	seed, err := strconv.ParseUint(os.Getenv(jobSeed), 10, 64)
	if err != nil {
		return err
	}
	for i := range programsOfJob {
		p := mpitest.Make(seed+uint64(i), c.Size(), 2, 15)
		digest, err := mpitest.Execute(c, p, mpitest.Threads(i%3))
		if err != nil {
			return err
		}
		fmt.Printf("program %d rank %d digest %x\n", i, c.Rank(), digest)
	}
	return nil
}

var digestLine = regexp.MustCompile(`program \d+ rank \d+ digest \w+`)

// TestRandomMPI: random programs of MPI between processes end as their serial model says, and alike over each conduit.
func TestRandomMPI(t *testing.T) {
	seed := rand.Uint64N(1 << 40)
	if s := os.Getenv(jobSeed); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("replay with %s=%d", jobSeed, seed)
	for _, n := range []int{2, 3} {
		var first []string
		for _, c := range realmConduits {
			if testing.Short() && n != 2 {
				continue
			}
			flags := append([]string{"-env", jobSeed + "=" + strconv.FormatUint(seed, 10)}, c.flags...)
			j := golci(t, ranks(n, "random", flags...)...)
			j.succeed()
			digests := digestLine.FindAllString(j.out.String(), -1)
			slices.Sort(digests)
			if len(digests) != n*programsOfJob {
				t.Fatalf("%s: %d ranks print %d digests\n%s", c.name, n, len(digests), j.all())
			}
			if first == nil {
				first = digests
			}
			if !slices.Equal(digests, first) {
				t.Errorf("%s: %d ranks end with\n%s, over %s with\n%s", c.name, n, strings.Join(digests, "\n"),
					realmConduits[0].name, strings.Join(first, "\n"))
			}
		}
	}
}
