package jobtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/golci/golci/internal/test/tracetest"
	"github.com/golci/golci/mpi"
)

const roundThreads = 50

// roleRound has threads pass one message each to the next rank, and a large one, and ends.
func roleRound(c *mpi.Comm) error {
	n := c.Size()
	next, before := (c.Rank()+1)%n, (c.Rank()+n-1)%n
	errs := make([]error, roundThreads)
	var wg sync.WaitGroup
	for i := range roundThreads {
		wg.Add(1)
		if _, err := c.Proc().Go(func() {
			defer wg.Done()
			_, errs[i] = mpi.Sendrecv(c, []int{i}, next, i, make([]int, 1), before, i)
		}); err != nil {
			return err
		}
	}
	_, err := mpi.Sendrecv(c, make([]byte, largeBytes), next, roundThreads, make([]byte, largeBytes), before,
		roundThreads)
	wg.Wait()
	return errors.Join(append(errs, err)...)
}

// mark is an event of a timeline.
type mark struct {
	Phase string  `json:"ph"`
	Rank  int     `json:"pid"`
	Time  float64 `json:"ts"`
	Name  string  `json:"name"`
	ID    string  `json:"id"`
}

// marksOf reads a timeline.
func marksOf(t *testing.T, path string) []mark {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var timeline struct {
		Events []mark `json:"traceEvents"`
	}
	if err := json.Unmarshal(b, &timeline); err != nil {
		t.Fatal(err)
	}
	return timeline.Events
}

// messages counts the arrows from a rank to another. Ranks of one machine have one clock: none goes back in time.
func messages(t *testing.T, marks []mark) map[string]int {
	t.Helper()
	sent, count := map[string]mark{}, map[string]int{}
	for _, m := range marks {
		if m.Phase == "s" {
			sent[m.ID] = m
		}
	}
	for _, m := range marks {
		if m.Phase != "f" {
			continue
		}
		s, ok := sent[m.ID]
		if !ok || s.Time > m.Time {
			t.Fatalf("%+v began at %+v", m, s)
		}
		count[fmt.Sprintf("%d to %d", s.Rank, m.Rank)]++
	}
	return count
}

// wantAlone checks that nothing but the timeline is in its directory, and nothing in that for temporary files.
func (j *job) wantAlone(path string) {
	j.t.Helper()
	for dir, want := range map[string]int{filepath.Dir(path): 1, j.tmp: 0} {
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != want {
			j.t.Errorf("%s has %v, %v", dir, left, err)
		}
	}
}

// TestTimelineOfAJob: the launcher makes one timeline of all ranks, wherever they run, and nothing else stays.
func TestTimelineOfAJob(t *testing.T) {
	for name, where := range map[string][]string{
		"here":  {"-n", "3"},
		"hosts": {"-hosts", "a:2,b:1", "-rsh", `sh -c 'shift; exec "$@"' rsh`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "time.json")
			args := append([]string{"run", "-trace", path, "-env", roleVar + "=round"}, where...)
			j := golci(t, append(args, os.Args[0])...).start()
			if code := j.wait(); code != 0 {
				t.Fatalf("exit code %d: %s", code, j.err.String())
			}
			marks := marksOf(t, path)
			if b, err := os.ReadFile(path); err != nil {
				t.Error(err)
			} else if open := tracetest.Valid(t, b); open["message"] > 0 {
				t.Errorf("arrows without an end: %v", open)
			}
			count := messages(t, marks)
			for _, pair := range []string{"0 to 1", "1 to 2", "2 to 0"} {
				if count[pair] < roundThreads {
					t.Errorf("%d messages %s, want %d", count[pair], pair, roundThreads)
				}
			}
			if err := j.err.String(); !strings.Contains(err, "a timeline of 3 rank(s)") || strings.Count(err,
				"\n") != 1 {
				t.Errorf("the launcher said %q", err)
			}
			j.wantAlone(path)
		})
	}
}

// awaitParts waits until so many ranks have written thousands of events beside the timeline: they do it now and then.
func awaitParts(t *testing.T, dir string, n int) {
	t.Helper()
	for end := time.Now().Add(withinLimit); ; time.Sleep(10 * time.Millisecond) {
		long := 0
		parts, err := filepath.Glob(filepath.Join(dir, ".golci-trace-*", "*"))
		for _, p := range parts {
			if i, err := os.Stat(p); err == nil && i.Size() > 256<<10 {
				long++
			}
		}
		if long >= n {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after %v %d of %d ranks have written much to %v, %v", withinLimit, long, n, parts, err)
		}
	}
}

// TestTimelineOfAKilledRank: the timeline has all ranks up to their ends, and says which part ends early.
func TestTimelineOfAKilledRank(t *testing.T) {
	path := filepath.Join(t.TempDir(), "time.json")
	j := golci(t, ranks(2, "flood", "-trace", path+",limit=4M")...).start()
	j.await(2, "flooding")
	awaitParts(t, filepath.Dir(path), 2)
	if err := syscall.Kill(j.pids(2)[1], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if code := j.wait(); code != 128+int(syscall.SIGKILL) {
		t.Errorf("exit code %d: %s", code, j.err.String())
	}
	if !strings.Contains(j.err.String(), "rank 1: its part ends early") {
		t.Errorf("the launcher said %q", j.err.String())
	}
	ranks, remark := map[int]int{}, false
	for _, m := range marksOf(t, path) {
		ranks[m.Rank]++
		remark = remark || m.Rank == 1 && m.Phase == "i" && strings.Contains(m.Name, "ends early")
	}
	if ranks[0] < 1000 || ranks[1] < 1000 || !remark {
		t.Errorf("events by rank %v, remark %v", ranks, remark)
	}
	j.wantAlone(path)
}
