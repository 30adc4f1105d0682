package ranks

import (
	"os"
	"runtime"

	"github.com/golci/golci/bench/crossing"
	"github.com/golci/golci/mpi"
)

// line measures the crossing between the cores of rank 0 and rank 1. Where they share no memory it reports 0.
type line struct{ page *crossing.Shared }

func (l *line) open(e *env) error {
	if e.size < 2 {
		return nil
	}
	where := []int64{int64(os.Getpid()), -1}
	if e.rank == 0 {
		if page, err := crossing.Create(); err == nil {
			l.page = page
			where[1] = int64(page.FD())
		}
	}
	if err := mpi.Bcast(e.comm, where, 0); err != nil {
		return err
	}
	if e.rank == 1 && where[1] >= 0 {
		if page, err := crossing.Attach(int(where[0]), int(where[1])); err == nil {
			l.page = page
		}
	}
	return l.all(e)
}

// all gives up the page on every rank unless both ends have it.
func (l *line) all(e *env) error {
	mine, have := []int64{0}, []int64{0}
	if l.page != nil {
		mine[0] = 1
	}
	if err := mpi.Allreduce(e.comm, mine, have, mpi.Sum); err != nil {
		return err
	}
	if have[0] < 2 {
		l.close()
	}
	return nil
}

func (l *line) close() {
	if l.page != nil {
		// Unmapping can fail only for memory that is not mapped.
		_ = l.page.Close()
		l.page = nil
	}
}

// crossing is called by every rank; rank 0 gets ns one way. It blocks, and ranks 0 and 1 spin for a few ms.
func (e *env) crossing() (float64, error) {
	l := &e.line
	if err := e.comm.Barrier(); err != nil {
		return 0, err
	}
	ns := 0.0
	if l.page != nil {
		runtime.LockOSThread()
		if e.rank == 0 {
			ns = crossing.Lead(l.page.Lines())
		} else {
			crossing.Follow(l.page.Lines())
		}
		runtime.UnlockOSThread()
	}
	return ns, e.comm.Barrier()
}
