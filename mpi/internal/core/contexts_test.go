package core

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/golci/golci/mpi/internal/notice"

	"github.com/golci/golci/mpi/internal/contextid"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/rank"
)

// run runs f as n ranks in this process, which all end well. pairs are names and values of settings.
func run(t *testing.T, n int, f func(c *Comm) error, pairs ...string) {
	t.Helper()
	if err := job(n, f, pairs...); err != nil {
		t.Fatal(err)
	}
}

// job is run, and gives the error.
func job(n int, f func(c *Comm) error, pairs ...string) error {
	cfg := rank.Config{Caller: "core", Settings: map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		cfg.Settings[pairs[i]] = pairs[i+1]
	}
	procs := make([]*Proc, n)
	cfg.Attach = func(r *rank.Rank) (err error) {
		procs[r.Rank()], err = NewProc(r, true)
		return err
	}
	team, err := rank.Local(n, cfg)
	if err != nil {
		return err
	}
	return team.Run(func(r *rank.Rank) error { return f(procs[r.Rank()].World()) })
}

// TestClaimThatFailed: a rank that has claimed an id in a call that fails keeps the id. The others may have seen the
// call succeed: their messages in its contexts must not meet a communicator that this rank makes with somebody else.
func TestClaimThatFailed(t *testing.T) {
	const id = 100
	run(t, 2, func(c *Comm) error {
		d, err := c.Dup()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		and := d.WithContext(ctx).anding("Dup", new(uint64))
		if _, err := c.proc.ids.ClaimTogether([]int{id}, 0, and); !errors.Is(err, sentinel.ErrCancelled) {
			return fmt.Errorf("the claim ended with %v", err)
		}
		if c.proc.ids.Claim(id) {
			return errors.New("the id is free again")
		}
		return nil
	})
}

// TestContextQuarantine: an id is free when this rank and all members, itself among them, have freed it, in any order.
func TestContextQuarantine(t *testing.T) {
	run(t, 1, func(c *Comm) error {
		const id = 50
		x := &c.proc.ids
		for own := range 3 { // after so many notices this rank frees it
			if !x.Claim(id) {
				return errors.New("the id is not free")
			}
			for told := range 3 {
				if told == own {
					x.NoteLeft(id, 3)
				}
				if x.Snapshot()[id/64]>>(id%64)&1 != 0 {
					return fmt.Errorf("the id is free after %d of 3 notices", told)
				}
				x.NoteLeft(id, 0)
			}
		}
		return nil
	})
}

// TestNoticeOfNoCommunicator: a notice about a communicator that cannot be is not kept.
func TestNoticeOfNoCommunicator(t *testing.T) {
	run(t, 2, func(c *Comm) error {
		for _, id := range []uint64{contextid.Max, 1 << 31, 1 << 63, 1<<64 - 1} {
			c.Srv.Notify(1-c.rank, [4]uint64{2: notice.Left, 3: id}, "")
		}
		if err := c.Barrier(); err != nil { // its messages come after them
			return err
		}
		if n := c.proc.ids.CountFreeing(); n != 0 {
			return fmt.Errorf("%d are kept", n)
		}
		return nil
	})
}

// TestUIDs: no two communicators share a uid, whether their ids were agreed on one by one or several at once, and of
// whichever communicator they are made. Notices would reach the wrong one.
func TestUIDs(t *testing.T) {
	const children, grandchildren = 20, 20
	run(t, 2, func(c *Comm) error {
		c.proc.Isolate() // else each communicator is agreed on
		made := map[uint64]string{c.coll.UID: "the world"}
		dup := func(c *Comm, name string) (*Comm, error) {
			d, err := c.Dup()
			if err == nil && made[d.coll.UID] != "" {
				err = fmt.Errorf("%s has the uid of %s", name, made[d.coll.UID])
			}
			if err == nil {
				made[d.coll.UID] = name
			}
			return d, err
		}
		for i := range children {
			d, err := dup(c, fmt.Sprintf("copy %d", i))
			if err != nil {
				return err
			}
			for k := range grandchildren {
				if _, err := dup(d, fmt.Sprintf("copy %d of copy %d", k, i)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
