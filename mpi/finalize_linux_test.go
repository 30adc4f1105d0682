package mpi

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/golci/golci/fult"
)

// endWith is the program of a rank that calls Finalize while threads that start has started do not end.
func endWith(start func(p *Proc) error) func() int {
	return func() int {
		p, err := Init(WithWorkers(2), With("GOLCI_STUCK", "300ms"))
		if err == nil {
			err = start(p)
		}
		fmt.Println("finalizing", err)
		fmt.Println("ended", p.Finalize())
		return 0
	}
}

// stuckInChannel starts threads that send on a channel, and receives from one of them only.
func stuckInChannel(p *Proc) error {
	ch := make(chan int)
	for i := range 3 {
		if _, err := p.Go(func() { ch <- i }); err != nil {
			return err
		}
	}
	<-ch
	return nil
}

// stuckInBlocking starts a thread whose blocking call does not return.
func stuckInBlocking(p *Proc) error {
	started := make(chan struct{})
	_, err := p.Go(func() {
		fult.Blocking(p.Threads().Current(), func() {
			close(started)
			var mu sync.Mutex
			mu.Lock()
			mu.Lock()
		})
	})
	<-started
	return err
}

// await returns when rank has printed text.
func (j *processes) await(t *testing.T, rank int, text string) {
	t.Helper()
	for end := time.Now().Add(patience); !strings.Contains(j.outs[rank].String(), text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("rank %d has not printed %q\n%s", rank, text, j.text())
		}
	}
}

// TestFinalizeNamesThread: Finalize tells which thread it waits for, with the line where it is, and SIGQUIT still
// gives a report.
func TestFinalizeNamesThread(t *testing.T) {
	for role, line := range map[string]string{"stuck in channel": "mpi.stuckInChannel", "stuck in blocking": "mpi.stuckInBlocking"} {
		j := startProcesses(t, 1, role)
		j.await(t, 0, "Finalize waits for thread ")
		j.await(t, 0, line)
		if err := j.cmds[0].Process.Signal(syscall.SIGQUIT); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := j.cmds[0].Wait(); !errors.As(err, &exit) || exit.ExitCode() != 2 {
			t.Errorf("%s: %v", role, err)
		}
		if text := j.outs[0].String(); !strings.Contains(text, "rank 0 of 1") || strings.Contains(text, "ended") {
			t.Errorf("%s: no report\n%s", role, text)
		}
	}
}
