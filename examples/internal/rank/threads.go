package rank

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi"
)

// Team is light-weight threads of one rank that work on one thing.
type Team struct {
	proc *mpi.Proc
	gate fult.WaitGroup        // open when all threads exist
	off  atomic.Bool           // set before the gate opens: not all could be started, so none shall run
	err  atomic.Pointer[error] // the first failure
}

// Threads runs f as n light-weight threads of the rank p, each with its thread and its number from 0, and returns the
// first error. It waits, and is for goroutines. No thread runs before all of them exist, so that they may meet at a
// barrier. The first failure aborts the job at once, so that nothing hangs.
func Threads(p *mpi.Proc, n int, f func(team *Team, t *fult.Thread, i int) error) error {
	team := &Team{proc: p}
	if err := team.gate.Add(nil, 1); err != nil {
		return err
	}
	handles := make([]fult.Handle, 0, n)
	for i := range n {
		h, err := p.Go(func() { team.thread(f, i) })
		if err != nil {
			team.off.Store(true)
			team.Fail(fmt.Errorf("starting thread %d of %d: %w", i, n, err))
			break
		}
		handles = append(handles, h)
	}
	if err := team.gate.Done(nil); err != nil {
		return err
	}
	for _, h := range handles {
		if err := h.Join(); err != nil {
			team.Fail(err)
		}
	}
	return team.Err()
}

func (team *Team) thread(f func(*Team, *fult.Thread, int) error, i int) {
	me := team.proc.Threads().Current()
	team.gate.Wait(me)
	if team.off.Load() {
		return
	}
	if err := guarded(f, team, me, i); err != nil {
		team.Fail(err)
	}
}

// guarded calls f and turns a panic into an error. It does so at once and not at the join, because threads that are
// joined earlier may wait for this one.
func guarded(f func(*Team, *fult.Thread, int) error, team *Team, me *fult.Thread, i int) (err error) {
	defer func() {
		if v := recover(); v != nil {
			cause, ok := v.(error)
			if !ok {
				cause = fmt.Errorf("%v", v)
			}
			err = fmt.Errorf("thread %d: panic: %w\n%s", i, cause, debug.Stack())
		}
	}()
	return f(team, me, i)
}

// Fail notes err, if it is the first failure, and aborts the job. Within mpi.Run it returns, and the pending
// operations of all ranks end with mpi.ErrAborted; a process of its own ends. It does not wait.
func (team *Team) Fail(err error) {
	if team.err.CompareAndSwap(nil, &err) {
		_ = team.proc.Abort(1, err) // returns err again, if at all
	}
}

// Err is the first failure of a thread so far, or nil.
func (team *Team) Err() error {
	if e := team.err.Load(); e != nil {
		return *e
	}
	return nil
}
