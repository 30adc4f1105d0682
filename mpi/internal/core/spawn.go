package core

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/mpi/internal/contextid"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/groupmsg"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/rank"
)

// Processes that start while a job runs (11.8). The launcher starts them as further ranks of the job. They have a world
// communicator of their own. They and those who have spawned them meet in the system context.

// Command is a program of which N processes are to be started.
type Command = rank.Command

// away has f run on a goroutine, since it waits for something that is no rank, such as the launcher. The caller waits in
// sc, and makes progress meanwhile. If that wait ends before f does, so does ctx, and what f gives later is lost.
func away[T any](p *Proc, sc scope, f func(ctx context.Context) (T, error)) (result T, err error) {
	if err := p.rank.Ended(); err != nil {
		return result, err
	}
	sc, end := sc.stoppable()
	defer end(nil)
	req, until := sc.beginWait(p.srv, pending.AnyRank, pending.Nobody), sc.until
	given := make(chan T, 1)
	go func() {
		t, err := f(until)
		given <- t
		p.srv.EndCall(req, err, nil)
	}()
	if _, err = sc.waitReq(p.srv, req); err == nil {
		return <-given, nil
	}
	select {
	case result = <-given: // which comes with an error, too
	default:
	}
	return result, err
}

// Spawn starts processes, and makes an inter-communicator of the ranks of c and of them (11.8.2, MPI_Comm_spawn,
// MPI_Comm_spawn_multiple). Only what root says of the commands counts. Either all processes are started or none. n is
// how many root wants, whatever becomes of them. Collective over c. It waits until the new processes have called Init.
// Errors: ErrComm, ErrRoot, errs.Spawn, ErrContexts, and those of communication.
func (c *Comm) Spawn(root int, cmds []Command) (d *Comm, n int, err error) {
	return c.SpawnUnless(nil, root, cmds)
}

// SpawnUnless is Spawn whose root tells the others of an error that it has found itself. Where bad is nil it is Spawn.
func (c *Comm) SpawnUnless(bad error, root int, cmds []Command) (d *Comm, n int, err error) {
	const what = "Spawn"
	if err := c.usableIntra(what); err != nil {
		return nil, 0, err
	}
	if uint(root) >= uint(len(c.group)) {
		return nil, 0, c.commErrorf(what, ": %w: %d", sentinel.ErrRoot, root)
	}
	var told []uint64
	var why error
	if root == c.rank {
		told, why = c.launchCommands(bad, cmds)
	}
	told, err = c.meeting(what).spreadWords(told)
	if err == nil && len(told) != 4 {
		err = fmt.Errorf("%w: the root has failed", errs.Other)
	}
	if err != nil {
		return nil, 0, c.dressed(what, err)
	}
	first, n, key := int(told[1]), int(told[2]), told[3]
	switch {
	case why != nil:
		return nil, n, c.dressed(what, why)
	case told[0] == uint64(errs.Arg):
		return nil, n, c.commErrorf(what, ": %w: those of rank %d, the root", sentinel.ErrArgument, root)
	case told[0] != 0:
		return nil, n, c.commErrorf(what, ": %w: rank %d, the root, could not start them", errs.Class(told[0]), root)
	case first+n > c.proc.rank.Size():
		return nil, n, c.commErrorf(what, ": %w: ranks %d to %d of a job of %d", errs.Intern, first, first+n-1,
			c.proc.rank.Size())
	}
	others := make([]int32, n)
	for i := range others {
		others[i] = int32(first + i)
	}
	d, err = c.meetNew(what, groupmsg.Spawned, key, others)
	return d, n, err
}

// launchCommands is the root's part: what it tells the others is a class of errors or 0, the first new rank and their
// number, and the key of the meeting.
func (c *Comm) launchCommands(why error, cmds []Command) ([]uint64, error) {
	told := []uint64{0, 0, 0, c.proc.newUID()}
	var total int
	for i, cmd := range cmds {
		if why == nil && (cmd.N < 0 || len(cmd.Argv) == 0) {
			why = fmt.Errorf("%w: %d processes of command %d, %q", sentinel.ErrArgument, cmd.N, i, cmd.Argv)
		}
		total += max(cmd.N, 0)
	}
	told[2] = uint64(total)
	if why == nil {
		words := bytesOfWords(append([]uint64{told[3]}, fromRanks(c.group)...))
		told[1], why = away(c.proc, c.scope("Spawn"), func(ctx context.Context) (uint64, error) {
			first, bad, err := c.proc.rank.Job().Spawn(ctx, rank.SpawnRequest{Commands: cmds, Parent: words})
			if err != nil && bad >= 0 && len(cmds) > 1 {
				err = fmt.Errorf("command %d: %w", bad, err)
			}
			return uint64(first), classed(err)
		})
	}
	if why != nil {
		told[0] = uint64(errs.Of(why))
		if errors.Is(why, sentinel.ErrArgument) {
			told[0] = uint64(errs.Arg)
		}
	}
	return told, why
}

// classed gives an error of the launcher the class of the standard.
func classed(err error) error {
	for _, x := range []struct {
		err   error
		class errs.Class
	}{{rank.ErrSpawn, errs.Spawn}, {rank.ErrName, errs.Name}, {rank.ErrService, errs.Service}} {
		if errors.Is(err, x.err) {
			return fmt.Errorf("%w: %w", x.class, err)
		}
	}
	return err
}

// meetNew makes the inter-communicator with ranks that have learnt of the key otherwise than in a communicator.
func (c *Comm) meetNew(what string, reason groupmsg.Reason, key uint64, remote []int32) (*Comm, error) {
	y := newExchange(c.scope(what), c.proc, groupmsg.Make(reason, key, 0, ""), slices.Concat(ordered(c.group, remote)))
	id, uid, err := y.agree()
	if err != nil {
		return nil, c.dressed(what, err)
	}
	return newInter(c.home(), id, uid, c.group, remote), nil
}

// JoinParent makes a spawned process meet those that have spawned it. It is part of Init, and waits for them.
func (p *Proc) JoinParent() error {
	const what = "Init"
	b, err := p.rank.Job().Parent(context.Background())
	if err != nil || b == nil {
		return err
	}
	words := wordsOf(b)
	if len(words) < 2 {
		return fmt.Errorf("mpi: %s: %w: what the spawning processes tell has %d bytes", what, errs.Intern, len(b))
	}
	for _, w := range words[1:] {
		if w >= uint64(p.rank.Size()) {
			return fmt.Errorf("mpi: %s: %w: rank %d of a job of %d has spawned this one", what, errs.Intern, w, p.rank.Size())
		}
	}
	p.parent, err = p.world.meetNew(what, groupmsg.Spawned, words[0], toRanks(words[1:]))
	if err == nil {
		err = p.parent.SetName("MPI_COMM_PARENT") // of 7.8
	}
	return err
}

// Parent is the inter-communicator with the processes that have spawned this one (11.8.1, MPI_Comm_get_parent). It is
// nil if the process has not been spawned, and after the communicator has been freed.
func (p *Proc) Parent() *Comm {
	if p.parent == nil || p.parent.Freed.Load() {
		return nil
	}
	return p.parent
}

// Disconnect waits until all ranks of c have called it, and then frees c (11.10.4, MPI_Comm_disconnect). Errors:
// ErrComm, and those of communication.
func (c *Comm) Disconnect() error {
	if err := c.Part(); err != nil {
		return err
	}
	return c.FreeLater()
}

// Part is Disconnect without the end: it only waits.
func (c *Comm) Part() error {
	const what = "Disconnect"
	if err := c.checkUsable(what); err != nil {
		return err
	}
	if c.id == contextid.World || c.id == contextid.Self {
		return c.commErrorf(what, ": %w: the world and self communicators stay", sentinel.ErrComm)
	}
	_, err := c.meeting(what).combineAll(nil, func(low, _ []byte) []byte { return low })
	return c.dressed(what, err)
}

// AppNum is the number of this process's program among those that have started together (11.10.3, MPI_APPNUM).
func (p *Proc) AppNum() (n int, err error) {
	return away(p, scopeOf("AppNum"), p.rank.Job().AppNum)
}

// Universe is the most processes that the job can have (11.10.1, MPI_UNIVERSE_SIZE).
func (p *Proc) Universe() int { return p.rank.Size() }

// Meet makes an inter-communicator of this rank alone and another one, over a connection between the two (11.10.5,
// MPI_Comm_join). Both call it. It is nil where the other rank is not of this job. It blocks the calling goroutine
// until the other side has written to w. Errors: ErrComm if both ends are this rank's, ErrContexts, those of w and of
// communication.
func (p *Proc) Meet(w io.ReadWriter) (*Comm, error) {
	const what = "Join"
	if err := p.rank.Ended(); err != nil {
		return nil, fmt.Errorf("mpi: %s: %w", what, err)
	}
	job, key := p.rank.Job(), p.newUID()
	mine := append([]byte(job.JobID), bytesOfWords([]uint64{key, uint64(p.rank.Rank())})...)
	theirs, err := away(p, scopeOf(what), func(context.Context) ([]byte, error) {
		if _, err := w.Write(mine); err != nil {
			return nil, err
		}
		b := make([]byte, len(mine))
		_, err := io.ReadFull(w, b)
		return b, err
	})
	if err != nil {
		return nil, fmt.Errorf("mpi: %s: %w", what, p.cause(err))
	}
	n := len(job.JobID)
	words := wordsOf(theirs[n:])
	if string(theirs[:n]) != job.JobID || words[1] >= uint64(p.rank.Size()) {
		return nil, nil
	}
	return p.self.joined(what, key^words[0], []int32{int32(words[1])})
}
