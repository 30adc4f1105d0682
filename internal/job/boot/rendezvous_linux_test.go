package boot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// meetingPlace is a place that no other test or process shares.
func meetingPlace(t *testing.T, rank, size int) envPlace {
	return envPlace{
		launcher: LauncherOpenMPI, rank: rank, size: size, fd: -1, nodes: 1, ours: true,
		meeting: fmt.Sprint(t.Name(), os.Getpid()),
	}
}

func TestRendezvous(t *testing.T) {
	const size = 5
	for round := range 3 { // the same name is free again at once
		var wg sync.WaitGroup
		for r := range size {
			wg.Go(func() {
				j, err := joinPlace(t.Context(), meetingPlace(t, r, size), options{})
				if err == nil {
					err = exchange(t.Context(), j)
				}
				if err == nil {
					err = j.Finalize(t.Context())
				}
				if err != nil {
					t.Errorf("round %d, rank %d: %v", round, r, err)
				}
			})
		}
		wg.Wait()
	}
	for _, name := range newMeeting(meetingPlace(t, 0, 1)).names {
		if isAnswered(name) {
			t.Error("the rendezvous is still open")
		}
	}
}

// TestRendezvousMissing: whose time is over first names the ranks that have not come. The other says the same, or that
// this one has ended.
func TestRendezvousMissing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second) // long enough to get into the fence on any day
	defer cancel()
	var wg sync.WaitGroup
	var named atomic.Int32
	for _, r := range []int{1, 2} {
		wg.Go(func() {
			_, err := joinPlace(ctx, meetingPlace(t, r, 4), options{})
			switch {
			case err == nil:
				t.Errorf("rank %d has joined", r)
			case errors.Is(err, ErrMissing) && strings.Contains(err.Error(), "0") && strings.Contains(err.Error(), "3"):
				named.Add(1)
			case !strings.Contains(err.Error(), fmt.Sprintf("rank(s) %d of 4 ended", 3-r)):
				t.Errorf("rank %d: %v", r, err)
			}
		})
	}
	wg.Wait()
	if named.Load() == 0 {
		t.Error("no rank names the ranks that are missing")
	}
}

// TestRendezvousDeath: when one rank goes without finalizing, all the others learn it.
func TestRendezvousDeath(t *testing.T) {
	const size = 3
	jobs := make([]*Job, size)
	var wg sync.WaitGroup
	for r := range size {
		wg.Go(func() {
			var err error
			if jobs[r], err = joinPlace(t.Context(), meetingPlace(t, r, size), options{}); err != nil {
				t.Errorf("rank %d: %v", r, err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	jobs[1].store.(*pmiStore).conn.Close()
	for _, j := range jobs {
		<-j.lostServer()
		j.store.(*pmiStore).closeWire(canceled)
	}
}
