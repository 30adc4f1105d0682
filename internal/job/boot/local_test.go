package boot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// roles are what the test binary is when a variable is set.
var roles = map[string]func() int{rankRole: rankMain}

// TestMain is also the rank that the tests of real launchers start.
func TestMain(m *testing.M) {
	for name, f := range roles {
		if os.Getenv(name) != "" {
			os.Exit(f())
		}
	}
	goleak.VerifyTestMain(m)
}

// exchange lets every job put two values, one of them large, and read everybody's.
func exchange(ctx context.Context, j *Job) error {
	big := bytes.Repeat([]byte{byte(j.Rank), 0, 0xff}, 3000)
	if err := errors.Join(j.Put("addr", fmt.Appendf(nil, "rank %d", j.Rank)), j.Put("big", big), j.Put("none", nil)); err != nil {
		return err
	}
	if err := j.Fence(ctx); err != nil {
		return err
	}
	for r := range j.Size {
		got, err := j.Get(ctx, r, "addr")
		if want := fmt.Sprintf("rank %d", r); err != nil || string(got) != want {
			return fmt.Errorf("addr of %d = %q, %v; want %q", r, got, err, want)
		}
		got, err = j.Get(ctx, r, "big")
		if want := bytes.Repeat([]byte{byte(r), 0, 0xff}, 3000); err != nil || !bytes.Equal(got, want) {
			return fmt.Errorf("big of %d has %d bytes, %v", r, len(got), err)
		}
		if got, err = j.Get(ctx, r, "none"); err != nil || len(got) != 0 {
			return fmt.Errorf("none of %d = %q, %v", r, got, err)
		}
	}
	if _, err := j.Get(ctx, 0, "absent"); !errors.Is(err, ErrNoKey) {
		return fmt.Errorf("absent key: %v", err)
	}
	if err := j.Put("addr", nil); !errors.Is(err, errArgument) {
		return fmt.Errorf("second put: %v", err)
	}
	return j.Barrier(ctx)
}

// all runs f for every job at once and reports the errors.
func all(t *testing.T, jobs []*Job, f func(context.Context, *Job) error) {
	t.Helper()
	var wg sync.WaitGroup
	for _, j := range jobs {
		wg.Go(func() {
			if err := f(t.Context(), j); err != nil {
				t.Errorf("rank %d: %v", j.Rank, err)
			}
		})
	}
	wg.Wait()
}

func TestLocalExchange(t *testing.T) {
	for _, n := range []int{1, 2, 7} {
		jobs, err := Local(n)
		if err != nil {
			t.Fatal(err)
		}
		all(t, jobs, exchange)
		all(t, jobs, func(ctx context.Context, j *Job) error {
			if len(j.LocalRanks) != n || j.JobID != jobs[0].JobID || len(j.Key) != keyBytes {
				return fmt.Errorf("job %+v", j)
			}
			return errors.Join(j.Finalize(ctx), j.Finalize(ctx))
		})
		if err := jobs[0].Fence(t.Context()); !errors.Is(err, errDone) {
			t.Errorf("fence after finalize: %v", err)
		}
	}
}

func TestLocalMissing(t *testing.T) {
	jobs, _ := Local(6)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	for _, r := range []int{0, 4} {
		go func() { done <- jobs[r].Fence(ctx) }()
	}
	for !waiting(jobs[0], 2) {
	}
	cancel()
	for range 2 {
		var miss *MissingError
		if err := <-done; !errors.As(err, &miss) || miss.Ranks != "1-3,5" || !errors.Is(err, ErrMissing) ||
			!errors.Is(err, context.Canceled) {
			t.Errorf("fence: %v", err)
		}
	}
}

func waiting(j *Job, n int) bool {
	m := j.store.(*memoryRank).m
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.count == n
}

func TestLocalAbort(t *testing.T) {
	jobs, _ := Local(3)
	done := make(chan error)
	go func() { done <- jobs[0].Fence(t.Context()) }()
	if err := jobs[2].Abort(7, "no more work"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, ErrAborted) || err.Error() != "golci: the job was aborted by rank 2 with code 7: no more work" {
		t.Errorf("fence: %v", err)
	}
	<-jobs[1].lostServer()
	if err := jobs[1].Put("x", nil); !errors.Is(err, ErrAborted) {
		t.Errorf("put: %v", err)
	}
}

func TestBadArguments(t *testing.T) {
	if _, err := Local(0); !errors.Is(err, errArgument) {
		t.Errorf("Local(0): %v", err)
	}
	jobs, _ := Local(2)
	j := jobs[0]
	long := string(bytes.Repeat([]byte("x"), maxKey+1))
	_, errLow := j.Get(t.Context(), -1, "a")
	_, errHigh := j.Get(t.Context(), 2, "a")
	_, errKey := j.Get(t.Context(), 0, "a b")
	for name, err := range map[string]error{
		"empty key": j.Put("", nil), "long key": j.Put(long, nil), "blank": j.Put("a b", nil), "equals": j.Put("a=b", nil),
		"value": j.Put("a", make([]byte, maxValue+1)), "rank -1": errLow, "rank 2": errHigh, "get": errKey,
	} {
		if !errors.Is(err, errArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
