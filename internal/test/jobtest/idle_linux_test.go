package jobtest

import (
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/mpi"
)

// Who waits in an idle rank, each under a tag of its own; the main goroutine of rank 1 does, too.
const (
	idleThreads    = 64
	idleGoroutines = 8
	idleTag        = idleThreads + idleGoroutines // of the word that the idling is over
)

// roleIdle has everybody wait until rank 0 sees the end of its input, and then serves them.
func roleIdle(c *mpi.Comm) error {
	peer := 1 - c.Rank()
	failed := make(chan error, idleTag)
	recv := func(tag int) {
		if _, err := mpi.Recv(c, make([]int, 1), peer, tag); err != nil {
			failed <- err
		}
	}
	var threads []fult.Handle
	for i := range idleThreads {
		h, err := c.Proc().Go(func() { recv(i) })
		if err != nil {
			return err
		}
		threads = append(threads, h)
	}
	var goroutines sync.WaitGroup
	for i := range idleGoroutines {
		goroutines.Go(func() { recv(idleThreads + i) })
	}
	fmt.Println("idle")
	if err := idleOver(c, peer); err != nil {
		return err
	}
	for tag := range idleTag {
		if err := mpi.Send(c, []int{tag}, peer, tag); err != nil {
			return err
		}
	}
	for _, h := range threads {
		if err := h.Join(); err != nil {
			return err
		}
	}
	goroutines.Wait()
	select {
	case err := <-failed:
		return err
	default:
		fmt.Println("served")
		return nil
	}
}

func idleOver(c *mpi.Comm, peer int) error {
	if c.Rank() == 1 {
		_, err := mpi.Recv(c, make([]int, 1), peer, idleTag)
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return mpi.Send(c, []int{0}, peer, idleTag)
}

// spent is the processor time of all processes; ticks where the kernel keeps no better account.
func spent(pids []int) (exact time.Duration, coarse int) {
	for _, pid := range pids {
		exact += processorTime(pid)
		coarse += ticks(pid)
	}
	return exact, coarse
}

// TestIdle: a job in which everybody waits uses less than a hundredth of a core, over whatever joins the ranks, and is
// there when messages come.
func TestIdle(t *testing.T) {
	const (
		settle = 500 * time.Millisecond // for what starting has left to do
		watch  = 2 * time.Second
		tick   = 10 * time.Millisecond
		tries  = 5 // the least of them counts: beside other work of the machine each wake-up takes longer
	)
	j := golci(t, ranks(2, "idle")...)
	input, err := j.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	j.start()
	j.await(2, "idle")
	time.Sleep(settle)
	pids := j.pids(2)
	share := math.Inf(1)
	for try := 0; try < tries && share > idleShare.most; try++ {
		exact, coarse := spent(pids)
		time.Sleep(watch)
		exactAfter, coarseAfter := spent(pids)
		used, byTicks := exactAfter-exact, time.Duration(coarseAfter-coarse)*tick
		t.Logf("2 ranks, %d threads and %d goroutines each, waiting for %v: %v of processor time (%v by ticks), %.2f %% of a core",
			idleThreads, idleGoroutines, watch, used.Round(time.Microsecond), byTicks, 100*used.Seconds()/watch.Seconds())
		if exact == 0 {
			used = byTicks
		}
		share = min(share, used.Seconds()/watch.Seconds())
	}
	if !invariants.Race { // its builds poll and sleep otherwise, and many times as slowly
		idleShare.check(t, share, "two ranks together")
	}
	if err := input.Close(); err != nil {
		t.Fatal(err)
	}
	if code := j.wait(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, j.all())
	}
	j.await(2, "served")
}
