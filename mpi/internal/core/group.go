package core

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/golci/golci/mpi/internal/notice"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/coll"
	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/contextid"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/signature"
)

// Dup makes a communicator of the same ranks with a message space of its own (7.4.2). Collective over c; it waits,
// and may switch threads. Errors: ErrComm, ErrContexts, and those of communication.
func (c *Comm) Dup() (*Comm, error) { return c.DupFor("Dup") }

// DupFor is Dup for the function what, which makes something else of it.
func (c *Comm) DupFor(what string) (*Comm, error) {
	if err := c.checkUsable(what); err != nil {
		return nil, err
	}
	return c.dup(what, contextid.Plain)
}

// dup makes a communicator of the ranks of c, with an id of a range, for the function what.
func (c *Comm) dup(what string, ids contextid.Range) (*Comm, error) {
	if c.local != nil {
		return c.dupInter(what)
	}
	id, uid, err := c.agree(what, ids)
	if err != nil {
		return nil, err
	}
	d := newComm(c.home(), id, uid, c.group, c.rank)
	d.topology.Store(c.origin().topology.Load())
	return d, nil
}

// Split makes one communicator for each colour, of the ranks that pass this colour. They are ordered by key and then
// by rank in c (7.4.2). A rank whose colour is Undefined gets nil. Of an inter-communicator both groups are split:
// ranks of one colour in both make an inter-communicator, and get nil where the other group has none of them.
// Collective over c; it waits, and may switch threads. Errors: ErrArgument for a negative colour, ErrComm, ErrContexts,
// and those of communication.
func (c *Comm) Split(color, key int) (*Comm, error) {
	if err := c.checkUsable("Split"); err != nil {
		return nil, err
	}
	return c.split("Split", color, key)
}

// colorKey is what a rank gives to Split.
type colorKey struct{ color, key int64 }

// colorElem is of such elements.
var colorElem = signature.NewElem(reflect.TypeFor[colorKey]())

// split is Split for the function what.
func (c *Comm) split(what string, color, key int) (*Comm, error) {
	if c.local != nil {
		return c.splitInter(what, color, key)
	}
	bad := color < 0 && color != Undefined
	mine := colorKey{int64(color), int64(key)}
	all := make([]colorKey, len(c.group))
	err := c.Do(&argument.Description{
		Kind: argument.KindAllgather, What: what, Elem: colorElem,
		In: argument.SideOf([]colorKey{mine}), Out: argument.SideOf(all),
	})
	if err != nil {
		return nil, err
	}
	id, uid, err := c.agree(what, contextid.Plain)
	if err != nil {
		return nil, err
	}
	if color < 0 {
		c.proc.ids.Release(id)
	}
	if bad {
		return nil, c.commErrorf(what, ": %w: colour %d", sentinel.ErrArgument, color)
	}
	if color == Undefined {
		return nil, nil
	}
	var members []int
	for r, x := range all {
		if x.color == mine.color {
			members = append(members, r)
		}
	}
	slices.SortStableFunc(members, func(a, b int) int { return cmp.Compare(all[a].key, all[b].key) })
	group := make([]int32, len(members))
	for i, r := range members {
		group[i] = c.group[r]
	}
	return newComm(c.home(), id, uid, group, slices.Index(members, c.rank)), nil
}

// Free ends the use of c (7.4.3). Every rank of c must call it, when its operations on c are done; it does not wait
// for the others. The world and self communicators cannot be freed. Errors: ErrComm; ErrPending if something of c was
// left at this rank, with how much of what. It is freed all the same. Receives that were left end with ErrCancelled,
// sends go on, and messages that were not received are dropped: no other communicator gets them.
func (c *Comm) Free() error {
	if err := c.mayFree(); err != nil {
		return err
	}
	c.proc.colls.Remove(c.coll)
	failed := c.coll.Failure() != nil // that left messages, and the program has been told of it
	left := c.Srv.Retire(c.Ctx)
	if coll := c.Srv.Retire(c.collCtx); !failed {
		left.Add(coll)
	}
	c.leaveComm()
	if err := c.coll.UnreportedError("Free"); err != nil {
		return err
	}
	if left == (comm.RetiredCounts{}) || c.Revoked() {
		return nil
	}
	return c.commErrorf("Free", ": %w: %s, %s, %s not received", sentinel.ErrPending,
		coll.Plural(left.Receives, "receive", "receives"), coll.Plural(left.Sends, "send", "sends"),
		coll.Plural(left.Messages, "message", "messages"))
}

// mayFree notes that c is freed, or tells why it cannot be.
func (c *Comm) mayFree() error {
	if c != nil && c.proc != nil && c.id != contextid.World && c.id != contextid.Self && c.freeRevoked() {
		return nil
	}
	if err := c.checkUsable("Free"); err != nil {
		return err
	}
	if c.id == contextid.World || c.id == contextid.Self {
		return c.commErrorf("Free", ": %w: the world and self communicators stay", sentinel.ErrComm)
	}
	if c.origin().Freed.Swap(true) {
		return c.checkUsable("Free")
	}
	c.dropSpare()
	c.coll.NoteFreed()
	return nil
}

// leaveComm tells all members that no message of this rank follows.
func (c *Comm) leaveComm() {
	c.proc.ids.NoteLeft(c.id, len(c.peers))
	for _, w := range c.peers { // the own rank too: messages to oneself are on their way as well
		c.Srv.Notify(int(w), [4]uint64{2: notice.Left, 3: uint64(c.id)}, "")
	}
}
