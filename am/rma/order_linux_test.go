package rma

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/internal/platform/invariants"
)

// orderEnv names what TestOrderSeen is to do in a process of its own.
const orderEnv = "GOLCI_RMA_TEST_ORDER"

// TestOrderSeen: the race detector sees the order that counters and atomics in shared memory give through another
// process. It reports an access that comes after the change that the other process answers.
func TestOrderSeen(t *testing.T) {
	if !invariants.Race {
		t.Skip("for the race detector")
	}
	if name := os.Getenv(orderEnv); name != "" {
		answered(t, name)
		return
	}
	for _, name := range []string{"count", "add", "count late", "add late"} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOrderSeen$")
			cmd.Env = append(os.Environ(), orderEnv+"="+name, "GORACE=history_size=7")
			out, err := cmd.CombinedOutput()
			racy := strings.HasSuffix(name, "late")
			if raced := strings.Contains(string(out), "WARNING: DATA RACE"); raced != racy || (err != nil) != racy {
				t.Errorf("race reported: %v, want %v: %v\n%s", raced, racy, err, out)
			}
		})
	}
}

// answered has a goroutine of rank 0 change a variable and tell rank 1, which answers; or first tell and then change.
// Another goroutine sees the answer and changes the variable, too.
func answered(t *testing.T, name string) {
	way, _, late := strings.Cut(name, " ")
	cmd, c, m := startChild(t, "answer", Config{})
	tell, hear := notified, func(m *Memory) error { return heard(m, 2) }
	if way == "add" {
		tell, hear = raised, raisedTo
	}
	// Both ranks get to know each other first, as nobody polls later.
	if err := errors.Join(notified(m), m.WaitCounter(1, 1, 1)); err != nil {
		t.Fatal(err)
	}
	shared := new(int)
	var errs [2]error
	var wg sync.WaitGroup
	wg.Go(func() {
		if !late {
			*shared = 1
		}
		errs[0] = tell(m)
		if late {
			*shared = 1
		}
	})
	wg.Go(func() {
		errs[1] = hear(m)
		*shared = 2
	})
	wg.Wait()
	m.Close()
	if err := errors.Join(errs[0], errs[1], c.Close()); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("rank 1: %v", err)
	}
}

func notified(m *Memory) error { return notify(m, 1) }

func notify(m *Memory, peer int) error { return m.PutNotify(peer, 0, nil, 1, 1) }

// heard looks at the counter only: it neither polls nor sends. It does little, since the detector keeps a short history
// of a goroutine, and reports nothing beyond it.
func heard(m *Memory, count uint64) error {
	for m.Counter(1) < count {
		time.Sleep(time.Millisecond)
	}
	return nil
}

func raised(m *Memory) error { return Store(m, 1, 0, int64(1)) }

func raisedTo(m *Memory) error {
	for {
		if v, err := Load[int64](m, 0, 0); v != 0 || err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// answerOnce answers one notification. Then it answers another one, or a number in its own segment by one in rank 0's.
// It does not wait there, which would have rank 0 send a message.
func answerOnce(m *Memory) error {
	if err := errors.Join(m.WaitCounter(1, 1, 0), notify(m, 0)); err != nil {
		return err
	}
	for {
		if m.Counter(1) == 2 {
			return notify(m, 0)
		}
		if v, err := Load[int64](m, 1, 0); err != nil {
			return err
		} else if v != 0 {
			return Store(m, 0, 0, v)
		}
	}
}
