package jobtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/golci/golci/internal/platform/invariants"
)

// programsOfJob is how many random programs of MPI a job executes.
const programsOfJob = 3

// randomProgram builds the program that executes them, and gives its path.
var randomProgram = sync.OnceValues(func() (string, error) {
	golci, err := launcher()
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(golci), "random")
	cmd := exec.Command("go", "build", "-race="+strconv.FormatBool(invariants.Race), "-o", path,
		"./mpi/internal/mpitest/job")
	cmd.Dir = "../../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

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
	program, err := randomProgram()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{2, 3} {
		var first []string
		for _, c := range realmConduits {
			if testing.Short() && n != 2 {
				continue
			}
			args := append([]string{"run", "-n", strconv.Itoa(n)}, c.flags...)
			j := golci(t, append(args, program, strconv.FormatUint(seed, 10), strconv.Itoa(programsOfJob))...)
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
