package rank

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/transport/shm"
)

// TestSeveralLayers: a rank tells what all of its layers wait for, waits for their operations, has them meet in order,
// and stops them all.
func TestSeveralLayers(t *testing.T) {
	const layers = 3
	var mu sync.Mutex
	var met []string
	var stopped [layers]atomic.Int32
	cfg := with()
	cfg.Attach = func(r *Rank) error {
		for i := range layers {
			err := r.Attach(Layer{
				Report: func(x *Report) {
					x.Calls++
					x.Messages += 2
					x.Lines = append(x.Lines, fmt.Sprint("layer ", i, " waits"))
				},
				Unended: func() (int, func() string) { return i, func() string { return fmt.Sprint("one of layer ", i) } },
				Meet: func() error {
					mu.Lock()
					defer mu.Unlock()
					met = append(met, fmt.Sprint(i))
					return nil
				},
				Stop: func() { stopped[i].Add(1) },
			})
			if err != nil {
				return err
			}
		}
		return r.Attach(Layer{}) // with nothing to do
	}
	err := job(t, 1, cfg, func(r *Rank) error {
		var b bytes.Buffer
		r.Dump(&b)
		for _, want := range []string{
			"golci: rank 0 of 1: 3 calls wait, 0 threads, 6 messages are not received", "layer 0 waits", "layer 2 waits",
		} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %q in\n%s", want, &b)
			}
		}
		return nil
	})
	if want := "rank: Finalize: rank 0: operations are still pending: 3 operations, the first is one of layer 1"; err == nil ||
		!errors.Is(err, ErrPending) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v does not say %q", err, want)
	}
	if got := strings.Join(met, " "); got != "0 1 2" {
		t.Errorf("met %s", got)
	}
	for i := range stopped {
		if stopped[i].Load() == 0 {
			t.Errorf("layer %d has not been stopped", i)
		}
	}
}

// TestAttachFails: the error of a layer ends the start, and what was made is let go.
func TestAttachFails(t *testing.T) {
	why := errors.New("no handler")
	_, err := Local(3, Config{Attach: func(r *Rank) error {
		if r.Rank() == 1 {
			return why
		}
		return nil
	}})
	if !errors.Is(err, why) {
		t.Errorf("Local: %v", err)
	}
	if _, err := Start(t.Context(), Config{Attach: func(*Rank) error { return why }}); !errors.Is(err, why) {
		t.Errorf("Start: %v", err)
	}
}

func TestBadConfigs(t *testing.T) {
	for name, cfg := range map[string]Config{
		"value":   with("GOLCI_WORKERS", "many"),
		"setting": with("GOLCI_WORKERZ", "1"),
	} {
		if _, err := Start(t.Context(), cfg); !errors.Is(err, ErrArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Local(0, Config{}); !errors.Is(err, ErrArgument) {
		t.Errorf("no rank: %v", err)
	}
	var none context.Context
	if _, err := Start(none, Config{}); !errors.Is(err, ErrArgument) {
		t.Errorf("nil context: %v", err)
	}
	if _, err := EagerLimit(0, Config{}); !errors.Is(err, ErrArgument) {
		t.Errorf("eager limit of no rank: %v", err)
	}
}

// TestNothingOfTheProcess: a rank whose Config asks for nothing leaves GOMAXPROCS, signals and the process alone.
func TestNothingOfTheProcess(t *testing.T) {
	t.Setenv("GOMAXPROCS", "")
	before := runtime.GOMAXPROCS(0)
	r, err := Start(t.Context(), with("GOLCI_WORKERS", fmt.Sprint(before+1)))
	if err != nil {
		t.Fatal(err)
	}
	listens := r.unlisten != nil
	if now := runtime.GOMAXPROCS(0); now != before || listens {
		t.Errorf("GOMAXPROCS %d became %d; SIGQUIT taken: %v", before, now, listens)
	}
	var exit *ExitError
	if err := r.Exit(300); !errors.Is(err, ErrAborted) || !errors.As(err, &exit) || exit.Code != 300&0xff {
		t.Errorf("Exit: %v", err)
	}
	if _, err := r.Go(func() {}); !errors.Is(err, ErrAborted) {
		t.Errorf("Go after it: %v", err)
	}
	if err := r.Finalize(t.Context()); !errors.As(err, &exit) {
		t.Errorf("Finalize after it: %v", err)
	}
}

// TestAskedOfTheProcess: what the Config asks for is done.
func TestAskedOfTheProcess(t *testing.T) {
	t.Setenv("GOMAXPROCS", "")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	workers := runtime.GOMAXPROCS(0) + 1
	cfg := with("GOLCI_WORKERS", fmt.Sprint(workers), "GOLCI_SERVER", "waiter")
	code := make(chan int, 1)
	cfg.Processors, cfg.QuitDump, cfg.Exit = true, true, func(n int) { code <- n }
	r, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	listens := r.unlisten != nil
	if now := runtime.GOMAXPROCS(0); now != workers+1 || listens != cfg.QuitDump {
		t.Errorf("GOMAXPROCS %d, want %d; SIGQUIT taken: %v", now, workers+1, listens)
	}
	_ = r.Exit(7) // which returns, as this process does not end
	if n := <-code; n != 7 {
		t.Errorf("the process would end with code %d", n)
	}
	_ = r.Finalize(t.Context()) // tells why once more
}

// TestFinalizeGivesUp: the end of its context ends a Finalize that waits for another rank.
func TestFinalizeGivesUp(t *testing.T) {
	team, err := Local(2, Config{})
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("enough")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, why)
	defer cancel()
	if err := team.Ranks()[0].Finalize(ctx); !errors.Is(err, why) || !strings.Contains(err.Error(), "rank 0") {
		t.Errorf("%v", err)
	}
	if err := team.Close(); err != nil {
		t.Error(err)
	}
}

// TestSeveralOnAJob: two ranks of each process live on one job, tell their messages apart, and leave the job to its
// owner.
func TestSeveralOnAJob(t *testing.T) {
	if shm.Lacks() != nil {
		t.Setenv("GOLCI_CONDUIT", "udp")
	}
	jobs, err := boot.Local(2)
	if err != nil {
		t.Fatal(err)
	}
	var processes sync.WaitGroup
	for _, j := range jobs {
		processes.Go(func() {
			for _, err := range []error{onJob(t.Context(), j), j.Barrier(t.Context())} {
				if err != nil {
					t.Errorf("process %d: %v", j.Rank, err)
				}
			}
		})
	}
	processes.Wait()
}

func onJob(ctx context.Context, j *Job) error {
	names := []string{"first", "second"}
	var sums [2]atomic.Uint64
	var ranks [2]*Rank
	for i, name := range names {
		r, err := On(ctx, j, Config{Name: name, Attach: func(r *Rank) error {
			return r.Endpoint().Register(1, am.Spec{
				Name: name, MaxReply: am.NoReply, Run: func(_ *am.Token, args []uint64, _ []byte) { sums[i].Add(args[0]) },
			})
		}})
		if err != nil {
			return err
		}
		ranks[i] = r
		if err := r.Endpoint().RequestShort(1-j.Rank, 1, uint64(10+i)); err != nil {
			return err
		}
	}
	var errs []error
	for i, r := range ranks {
		errs = append(errs, r.BlockUntil(func() bool { return sums[i].Load() == uint64(10+i) }))
		if err := r.Exit(0); !errors.Is(err, ErrArgument) {
			errs = append(errs, fmt.Errorf("Exit of a job that is somebody else's: %w", err))
		}
	}
	for _, r := range ranks {
		errs = append(errs, r.Finalize(ctx))
	}
	return errors.Join(errs...)
}
