package boot

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/internal/observe/settings"
)

// TestLeave: ranks leave one by one, one of them while another goroutine of it waits in a fence; nobody is told of a
// failure, and nobody takes the connections that end for a loss.
func TestLeave(t *testing.T) {
	const size = 3
	for _, own := range []bool{true, false} {
		preset := map[string]string{}
		if own {
			preset = ours(NewKey(), size)
		}
		b := newBench(t, size, preset)
		jobs := b.joinAll(t, size, own)
		fence := make(chan error, 1)
		if own { // PMI-1 itself allows nothing beside a barrier
			go func() { fence <- jobs[0].Fence(context.Background()) }()
		} else {
			fence <- ErrAborted
		}
		for _, j := range jobs {
			if err := j.Leave(7, "rank 1 had enough\nof it"); err != nil {
				t.Errorf("own %v, rank %d: %v", own, j.Rank, err)
			}
			if err := j.Leave(7, ""); err != nil {
				t.Errorf("own %v, rank %d, once more: %v", own, j.Rank, err)
			}
			<-j.lostServer()
		}
		if err := <-fence; !errors.Is(err, ErrAborted) {
			t.Errorf("the fence ended with %v", err)
		}
		b.srv.Close()
		if len(b.fails) > 0 {
			t.Errorf("own %v: %q", own, b.fails)
		}
		for r := range size {
			if !b.srv.Finalized(r) {
				t.Errorf("own %v: rank %d counts as lost", own, r)
			}
		}
	}
}

// TestLeaveText: a reason longer than a line is cut, not refused.
func TestLeaveText(t *testing.T) {
	b := newBench(t, 1, ours(NewKey(), 1))
	if err := b.joinAll(t, 1, true)[0].Leave(1, strings.Repeat("long ", 1000)); err != nil {
		t.Error(err)
	}
}

// TestEnding: after Ending the loss of the connection is nobody's concern.
func TestEnding(t *testing.T) {
	b := newBench(t, 1, ours(NewKey(), 1))
	lost := make(chan struct{}, 1)
	p := envPlace{launcher: LauncherGolci, size: 1, fd: -1, ours: true}
	j, err := b.join(t.Context(), p, func(*Job) { lost <- struct{}{} })
	if err != nil {
		t.Fatal(err)
	}
	j.Ending()
	b.srv.HangUp()
	<-j.lostServer()
	if err := j.Leave(0, ""); err != nil && !strings.Contains(err.Error(), "closed pipe") {
		t.Error(err)
	}
	select {
	case <-lost:
		t.Error("the loss was told")
	default:
	}
}

func TestLeaveLocal(t *testing.T) {
	jobs, err := Local(2)
	if err != nil {
		t.Fatal(err)
	}
	jobs[0].Ending()
	if err := jobs[0].Leave(3, "x"); err != nil {
		t.Error(err)
	}
	if err := jobs[0].Put("late", nil); !errors.Is(err, errDone) {
		t.Error(err)
	}
}

func TestExitLimit(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		n    int
		want time.Duration
	}{
		{nil, 1, 5250 * time.Millisecond},
		{nil, 64, 21 * time.Second},
		{nil, 1420, 6 * time.Minute},
		{nil, 1 << 30, 6 * time.Minute},
		{map[string]string{"GOLCI_EXITTIMEOUT": "90ms"}, 64, 90 * time.Millisecond},
		{map[string]string{"GOLCI_EXITTIMEOUT": "1h"}, 64, time.Hour},
	} {
		set, err := settings.Parse(func(name string) (string, bool) { v, ok := c.env[name]; return v, ok })
		if err != nil {
			t.Fatal(err)
		}
		if got := ExitLimit(set, c.n); got != c.want {
			t.Errorf("%v, %d ranks: %v, want %v", c.env, c.n, got, c.want)
		}
	}
}
