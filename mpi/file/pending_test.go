package file

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/internal/test/pendingtest"
	"github.com/golci/golci/mpi"
	"github.com/golci/golci/mpi/internal/core"
)

// Every call on a file that may wait is ended by an abort, by the death of a peer and, where it gives a request, by a
// time limit. Finalize counts it, and a dump names it. A file has a communicator of its own, which nothing revokes, and
// is no view: only Open has a communicator of the program, and a view of it.

// neverPends are calls that give an error and are not in the table, by the reason.
var neverPends = map[string]string{
	"it is local": `Delete File.PositionShared File.Read File.ReadAt File.Seek File.Size File.Write File.WriteAt
		File.Iread File.IreadAt File.Iwrite File.IwriteAt`,
	"it waits for the shared pointer, which the target moves without a call of its program": `File.ReadShared
		File.WriteShared File.IreadShared File.IwriteShared`,
}

// A row is a call that waits for ever on rank 1, because rank 0 makes none.
type row struct {
	name, shows string
	open        func(c *mpi.Comm, name string) error
	call        func(f *File[int32]) error
	start       func(f *File[int32]) (mpi.Request, error)
}

func rows() (all []row) {
	buf := func() []int32 { return make([]int32, 4) }
	drop := func(_ int, err error) error { return err }
	blocks := func(name, shows string, call func(f *File[int32]) error) {
		all = append(all, row{name: "File." + name, shows: shows, call: call})
	}
	starts := func(name, shows string, start func(f *File[int32]) (mpi.Request, error)) {
		all = append(all, row{name: "File." + name, shows: shows, start: start})
	}
	all = append(all, row{name: "Open", shows: "File_open", open: func(c *mpi.Comm, name string) error {
		_, err := Open[int32](c, name, ReadWrite|Create)
		return err
	}})
	blocks("Close", "File_close", (*File[int32]).Close)
	blocks("Preallocate", "File_preallocate", func(f *File[int32]) error { return f.Preallocate(4) })
	blocks("ReadAll", "File_read_all", func(f *File[int32]) error { return drop(f.ReadAll(buf())) })
	blocks("ReadAtAll", "File_read_at_all", func(f *File[int32]) error { return drop(f.ReadAtAll(buf(), 0)) })
	blocks("ReadOrdered", "File_read_ordered", func(f *File[int32]) error { return drop(f.ReadOrdered(buf())) })
	blocks("SeekShared", "File_seek_shared", func(f *File[int32]) error { return f.SeekShared(1, 0) })
	blocks("SetAtomicity", "File_set_atomicity", func(f *File[int32]) error { return f.SetAtomicity(true) })
	blocks("SetSize", "File_set_size", func(f *File[int32]) error { return f.SetSize(4) })
	blocks("SetView", "File_set_view", func(f *File[int32]) error { return f.SetView(0, View{}) })
	blocks("Sync", "File_sync", (*File[int32]).Sync)
	blocks("WriteAll", "File_write_all", func(f *File[int32]) error { return drop(f.WriteAll(buf())) })
	blocks("WriteAtAll", "File_write_at_all", func(f *File[int32]) error { return drop(f.WriteAtAll(buf(), 0)) })
	blocks("WriteOrdered", "File_write_ordered", func(f *File[int32]) error { return drop(f.WriteOrdered(buf())) })
	starts("IreadAll", "File_iread_all", func(f *File[int32]) (mpi.Request, error) { return f.IreadAll(buf()) })
	starts("IreadAtAll", "File_iread_at_all", func(f *File[int32]) (mpi.Request, error) {
		return f.IreadAtAll(buf(), 0)
	})
	starts("IwriteAll", "File_iwrite_all", func(f *File[int32]) (mpi.Request, error) { return f.IwriteAll(buf()) })
	starts("IwriteAtAll", "File_iwrite_at_all", func(f *File[int32]) (mpi.Request, error) {
		return f.IwriteAtAll(buf(), 0)
	})
	return all
}

func TestPendingIsComplete(t *testing.T) {
	var names []string
	for _, r := range rows() {
		names = append(names, r.name)
	}
	pendingtest.Complete(t, names, neverPends)
}

// prepare gives the row r on a communicator and a file that nothing else uses. Both ranks call it.
func (r row) prepare(c *mpi.Comm, dir string, limit context.Context) (*pendingtest.Call, error) {
	d, err := c.Dup()
	if err != nil {
		return nil, err
	}
	x, name := &pendingtest.Call{Name: r.name, Shows: r.shows}, filepath.Join(dir, r.name)
	if r.open != nil {
		x.Mine = on((*core.Comm)(d))
		if limit != nil {
			d = d.WithContext(limit)
		}
		x.Do = func() error { return r.open(d, name) }
		return x, nil
	}
	f, err := Open[int32](d, name, ReadWrite|Create)
	if err != nil {
		return nil, err
	}
	x.Mine = on(f.f.Comm())
	x.Do = func() error {
		if r.call != nil {
			return r.call(f)
		}
		q, err := r.start(f)
		if err != nil {
			return err
		}
		if limit != nil {
			_, err = q.WaitContext(limit)
		} else {
			_, err = q.Wait()
		}
		return err
	}
	return x, nil
}

// on tells what is of a communicator.
func on(c *core.Comm) func(*pending.Op) bool {
	return func(o *pending.Op) bool { return o.Context != pending.NoContext && o.Context/2 == c.Ctx/2 }
}

// pendingJob has the calls wait at once on rank 1. Then rank 0 does act, and then rank 1 sees.
func pendingJob(t *testing.T, some []row, limit context.Context,
	act func(c *mpi.Comm) error, see func(c *mpi.Comm, calls []*pendingtest.Call) error,
) error {
	dir, waiting := t.TempDir(), make(chan struct{})
	return mpi.Run(2, func(c *mpi.Comm) error {
		var calls []*pendingtest.Call
		for _, r := range some {
			x, err := r.prepare(c, dir, limit)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			calls = append(calls, x)
		}
		if c.Rank() == 0 {
			<-waiting
			return act(c)
		}
		defer close(waiting)
		if err := pendingtest.Begin((*core.Proc)(c.Proc()).Server().Endpoint().Pending(), calls); err != nil {
			return err
		}
		waiting <- struct{}{}
		return see(c, calls)
	})
}

var (
	errOver = errors.New("enough")
	errSeen = errors.New("all has been seen") // ends a job whose ranks are out of step
)

func TestPendingAborted(t *testing.T) {
	var failed error
	err := pendingJob(t, rows(), nil, func(*mpi.Comm) error { return errOver },
		func(_ *mpi.Comm, calls []*pendingtest.Call) error {
			failed = pendingtest.Ended(calls, mpi.ErrAborted)
			return nil
		})
	if !errors.Is(err, errOver) || failed != nil {
		t.Errorf("%v; the job: %v", failed, err)
	}
}

// TestPendingLost: rank 0 can be reached no more.
func TestPendingLost(t *testing.T) {
	var failed error
	seen := make(chan struct{})
	err := pendingJob(t, rows(), nil,
		func(c *mpi.Comm) error {
			err := (*core.Proc)(c.Proc()).Server().Endpoint().Conduit().Close()
			<-seen
			return errors.Join(err, errSeen)
		},
		func(_ *mpi.Comm, calls []*pendingtest.Call) error {
			defer close(seen)
			failed = pendingtest.Ended(calls, mpi.ErrPeer)
			return errSeen
		})
	if !errors.Is(err, errSeen) || failed != nil {
		t.Errorf("%v; the job: %v", failed, err)
	}
}

func TestPendingRevoked(t *testing.T) {
	var all []*mpi.Comm
	open := []row{rows()[0]}
	call := open[0].open
	open[0].open = func(c *mpi.Comm, name string) error {
		all = append(all, c)
		return call(c, name)
	}
	err := pendingJob(t, open, nil, func(c *mpi.Comm) error { return c.Barrier() },
		func(c *mpi.Comm, calls []*pendingtest.Call) error {
			return errors.Join(all[0].Revoke(), pendingtest.Ended(calls, mpi.ErrRevoked), c.Barrier())
		})
	if err != nil {
		t.Error(err)
	}
}

// TestPendingLimited: the wait for an access ends; the access goes on.
func TestPendingLimited(t *testing.T) {
	var some []row
	for _, r := range rows() {
		if r.call == nil {
			some = append(some, r)
		}
	}
	ctx, end := context.WithCancelCause(t.Context())
	err := pendingJob(t, some, ctx, func(c *mpi.Comm) error { return c.Barrier() },
		func(c *mpi.Comm, calls []*pendingtest.Call) error {
			end(errOver)
			return errors.Join(pendingtest.Ended(calls, errOver), c.Barrier(), errSeen)
		})
	if !errors.Is(err, errSeen) || errors.Is(err, pendingtest.ErrOther) {
		t.Error(err)
	}
}

// TestPendingFinalized: what waits ends, because Finalize ends it or because rank 0 is found to have called Finalize.
// Rank 0 is told of the latter if its Finalize still lasts.
func TestPendingFinalized(t *testing.T) {
	var failed error
	err := pendingJob(t, rows(), nil, func(*mpi.Comm) error { return nil },
		func(c *mpi.Comm, calls []*pendingtest.Call) error {
			_ = c.Proc().Finalize() // it may find that all has ended
			failed = pendingtest.Ended(calls, mpi.ErrFinalized, mpi.ErrMismatch)
			return nil
		})
	if failed != nil || err != nil && !errors.Is(err, mpi.ErrCollective) {
		t.Errorf("%v; the job: %v", failed, err)
	}
}

func TestPendingIsDumped(t *testing.T) {
	err := pendingJob(t, rows(), nil, func(c *mpi.Comm) error { return c.Barrier() },
		func(c *mpi.Comm, calls []*pendingtest.Call) error {
			pendingtest.Named(c.Proc().Dump, calls)
			return errSeen
		})
	if !errors.Is(err, errSeen) {
		t.Error(err)
	}
}
