package slurmtest

import (
	"fmt"
	"math"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// same is how far scores may be apart that are printed with nine decimals: the last may be rounded to either side.
const same = 1.5e-9

var score = regexp.MustCompile(`(?m)^\s*(\d+)\s+([01]\.\d{9})\s*$`)

// ranking reads the scores that pagerank prints.
func ranking(j job) map[string]float64 {
	out := map[string]float64{}
	for _, m := range score.FindAllStringSubmatch(j.out, -1) {
		out[m[1]], _ = strconv.ParseFloat(m[2], 64) // which the pattern allows
	}
	return out
}

// compare says how two rankings differ; "" if they do not.
func compare(a, b map[string]float64) string {
	if len(a) != 10 || len(b) != 10 {
		return fmt.Sprintf("%d and %d vertices, want ten", len(a), len(b))
	}
	for id, x := range a {
		if y, ok := b[id]; !ok || math.Abs(x-y) > same {
			return fmt.Sprintf("vertex %s: %v and %v", id, x, b[id])
		}
	}
	return ""
}

// TestPageRank: the same graph has the same ranking under each way to start.
func TestPageRank(t *testing.T) {
	build(t)
	const graph = "pagerank -scale 12"
	alone := ranking(run(t, nil, graph))
	all := ways(t)
	for _, line := range []string{
		"golci run -n 2", "mpiexec.mpich -n 2", "mpirun.openmpi --oversubscribe -n 2",
		"srun --nodes=1 --ntasks=2 --mpi=none",
	} {
		all[line] = nil
	}
	for line, env := range all {
		t.Run(line, func(t *testing.T) {
			if word, _, _ := strings.Cut(line, " "); strings.HasPrefix(word, "mpi") {
				if _, err := exec.LookPath(word); err != nil {
					t.Skipf("%s is not installed", word)
				}
			}
			j := run(t, env, line+" "+graph)
			if diff := compare(alone, ranking(j)); diff != "" || j.failed != nil {
				t.Errorf("%s: %s", diff, j.all())
			}
		})
	}
}

// TestPageRankByHand: ranks that nobody but this test starts.
func TestPageRankByHand(t *testing.T) {
	build(t)
	const graph = "pagerank -scale 12"
	alone := ranking(run(t, nil, graph))
	env := []string{secret(), rootHere(t), "GOLCI_SIZE=2"}
	jobs := make([]job, 2)
	var wg sync.WaitGroup
	for r := range jobs {
		wg.Go(func() { jobs[r] = run(t, append(env[:3:3], fmt.Sprintf("GOLCI_RANK=%d", r)), graph) })
	}
	wg.Wait()
	if diff := compare(alone, ranking(jobs[0])); diff != "" || jobs[0].failed != nil || jobs[1].failed != nil {
		t.Errorf("%s: %s%s", diff, jobs[0].all(), jobs[1].all())
	}
}

func TestCompare(t *testing.T) {
	a := map[string]float64{}
	for i := range 10 {
		a[strconv.Itoa(i)] = 0.5
	}
	b := ranking(job{out: strings.Repeat("x 0.500000000\n", 3) + "1 0.500000000\n"})
	if compare(a, a) != "" || compare(a, b) == "" || len(b) != 1 {
		t.Errorf("%v", b)
	}
	b = map[string]float64{}
	for id := range a {
		b[id] = 0.5
	}
	b["3"] = 0.500000003
	if compare(a, b) == "" {
		t.Error("two different rankings are the same")
	}
}
