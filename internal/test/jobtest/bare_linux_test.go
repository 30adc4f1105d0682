package jobtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/am"
	"github.com/golci/golci/rank"
)

// bareRole and a way to end is the role of ranks without package mpi, and without anything that concerns the process.
const bareRole = "bare "

// bareMain is the program of such a rank. It goes on when the job has ended, and says what it has seen.
func bareMain(how string) int {
	before := runtime.GOMAXPROCS(0)
	var counts [2]atomic.Int32 // of hellos, and of ranks that have said what they have seen
	r, err := rank.Start(context.Background(), rank.Config{Attach: func(r *rank.Rank) error {
		return r.Endpoint().Register(1, am.Spec{
			Name: "count", MaxReply: am.NoReply, Run: func(_ *am.Token, args []uint64, _ []byte) { counts[args[0]].Add(1) },
		})
	}})
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 3
	}
	meet := func(count int) {
		for peer := range r.Size() {
			if err := r.Endpoint().RequestShort(peer, 1, uint64(count)); err != nil {
				fmt.Println("request:", err)
			}
		}
		if err := r.BlockUntil(func() bool { return int(counts[count].Load()) == r.Size() }); err != nil {
			fmt.Println("waiting:", err)
		}
	}
	meet(0)
	fmt.Printf("rank %d has heard of %d, GOMAXPROCS changed: %v\n", r.Rank(), counts[0].Load(), before != runtime.GOMAXPROCS(0))
	if how != "finalize" {
		meet(1)
	}
	switch {
	case how == "finalize":
		err = r.Finalize(context.Background())
	case r.Rank() != 1:
		err = r.BlockUntil(func() bool { return false })
	case how == "exit":
		err = r.Exit(7)
	default:
		err = r.Abort(5, errors.New("enough"))
	}
	var exit *rank.ExitError
	errors.As(err, &exit)
	fmt.Printf("rank %d goes on: %v\n", r.Rank(), err)
	if exit != nil {
		_ = r.Finalize(context.Background()) // tells once more why
		return exit.Code
	}
	return 0
}

// TestRanksWithoutMPI: processes start from package rank alone, exchange active messages, wait for them, and end in
// each way. Only its own return, or the launcher, ends a process that has not asked for more.
func TestRanksWithoutMPI(t *testing.T) {
	for how, want := range map[string]struct {
		code  int
		lines []string
	}{
		"finalize": {0, []string{"rank %d goes on: <nil>"}},
		"exit":     {7, []string{"rank %d goes on: the job has been aborted: rank 1 ended the job with code 7"}},
		"abort":    {5, nil},
	} {
		t.Run(how, func(t *testing.T) {
			j := within(t, refusedBound, ranks(3, bareRole+how)...)
			if code := j.start().wait(); code != want.code {
				t.Errorf("exit code %d, want %d\n%s", code, want.code, j.all())
			}
			for r := range 3 {
				for _, line := range append(want.lines, "rank %d has heard of 3, GOMAXPROCS changed: false") {
					if text := fmt.Sprintf(line, r); !strings.Contains(j.out.String(), text) {
						t.Errorf("nobody says %q\n%s", text, j.all())
					}
				}
			}
			if how == "abort" && !strings.Contains(j.err.String(), "enough") {
				t.Errorf("the reason is missing\n%s", j.all())
			}
		})
	}
}
