package exit

import (
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/internal/job/boot"
)

// onNodes makes drivers for ranks on pretend nodes: counts[i] consecutive ones on node i.
func onNodes(t *testing.T, limit time.Duration, counts ...int) []*driver {
	t.Helper()
	size := 0
	for _, n := range counts {
		size += n
	}
	jobs, err := boot.Local(size)
	if err != nil {
		t.Fatal(err)
	}
	first := 0
	for _, n := range counts {
		for r := first; r < first+n; r++ {
			jobs[r].LocalRanks = jobs[r].LocalRanks[first : first+n]
		}
		first += n
	}
	out := make([]*driver, size)
	var wg sync.WaitGroup
	for r, j := range jobs { // they wait for each other
		wg.Go(func() {
			d, err := newDriver(j, limit)
			if err != nil {
				t.Error(err)
				return
			}
			out[r] = d
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	for _, d := range out {
		t.Cleanup(func() {
			if err := d.close(); err != nil {
				t.Error(err)
			}
		})
	}
	return out
}

// TestNodes: ranks of several nodes end together, with one code, of one rank, whoever calls.
func TestNodes(t *testing.T) {
	const limit = time.Minute // nobody is to wait for it
	for name, c := range map[string]struct {
		counts []int
		call   func(all []*driver)
		want   Action
	}{
		"the first":  {[]int{2, 2}, func(all []*driver) { all[0].exit(3) }, Action{Kind: Finish, Verdict: Verdict{3, 0}}},
		"the last":   {[]int{1, 3, 2}, func(all []*driver) { all[5].exit(3) }, Action{Kind: Finish, Verdict: Verdict{3, 5}}},
		"for a zero": {[]int{2, 1}, func(all []*driver) { all[1].exit(0) }, Action{Kind: Finish, Verdict: Verdict{0, 1}}},
		"all": {[]int{2, 3, 4}, func(all []*driver) {
			for r, d := range all {
				d.exit(r % 5)
			}
		}, Action{Kind: Finish, Verdict: Verdict{4, 4}}},
		"abort": {[]int{2, 3}, func(all []*driver) { all[1].abort(9) }, Action{Kind: Finish, Verdict: Verdict{9, 1}, Aborted: true}},
	} {
		t.Run(name, func(t *testing.T) {
			all := onNodes(t, limit, c.counts...)
			c.call(all)
			for r, d := range all {
				if got := <-d.over; got != c.want {
					t.Errorf("rank %d: %+v, want %+v", r, got, c.want)
				}
			}
		})
	}
}

// TestNodesDead: ranks that have ended before do not hold up the others, and make the code at least 1.
func TestNodesDead(t *testing.T) {
	all := onNodes(t, time.Minute, 2, 2, 1)
	for _, dead := range []int{1, 3} {
		if err := all[dead].plane.Close(); err != nil {
			t.Fatal(err)
		}
	}
	all[0].exit(0)
	for _, r := range []int{0, 2, 4} {
		if got := <-all[r].over; got.Kind != Finish || got.Verdict.Code != 1 {
			t.Errorf("rank %d: %+v", r, got)
		}
	}
}
