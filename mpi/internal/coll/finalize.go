package coll

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/golci/golci/mpi/internal/contextid"

	"github.com/golci/golci/mpi/internal/notice"

	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// In Finalize all ranks compare what they have called on all communicators. First they add up one word of each rank: of
// each communicator rank 0 subtracts the hash of its calls as often as there are others, and the others add theirs. If
// all agree the sum is 0. Only else do they tell each other which communicators they have had, and look for those where
// they differ.

// freedCommUse is what Finalize needs of communicators that have been freed.
type freedCommUse struct {
	mu    sync.Mutex // guards what follows; no lock is taken under it, and it may be taken under that of colls
	sum   uint64
	ended []record // the last of them
	found error    // what Finalize has found
}

// keptRecords is of how many freed communicators a rank knows what it has called.
const keptRecords = 512

// entry is what a rank has called on a communicator, as it tells other ranks.
type entry struct {
	uid, number, calls, types uint64
	rank, size                uint32
	unsure                    uint64 // not 0: a call has failed, or runs; nothing is compared
}

type record struct {
	entry
	name string
	tags [algorithm.KeptTags]uint64 // as in State
}

// ownRecord is what this rank has called on the communicator. It is false if that is not compared: no other rank of
// this world has part in it, or ranks of other worlds have, too.
func (st *State) ownRecord() (r record, ok bool) {
	job := st.OfRank.Rank.Job()
	if st.betweenGroups() || st.size < 2 {
		return r, false
	}
	for _, w := range st.Peers {
		if int(w) < job.First || int(w) >= job.First+job.Mates {
			return r, false
		}
	}
	state := st.state.Load()
	r.entry = entry{
		uid: st.UID, number: state / 2, calls: st.history.Calls.Load(), types: st.history.Types.Load(),
		rank: uint32(st.Rank), size: uint32(st.size),
	}
	if state%2 != 0 || st.poison.Load() != nil || st.comm.Revoked() || st.hasOpen() {
		r.unsure = 1
	}
	return r, true
}

// shareOf is what this rank adds to the sum.
func (r *entry) shareOf() uint64 {
	word := contextid.Mix(contextid.Mix(r.uid, r.number), contextid.Mix(r.calls, r.types))
	if r.rank == 0 {
		return -word * uint64(r.size-1)
	}
	return word
}

// hasOpen tells that a call that does not wait has not ended.
func (st *State) hasOpen() bool {
	o := &st.open
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.calls) > 0
}

// NoteFreed notes, for Finalize, what has been called on the communicator, which is being freed.
func (st *State) NoteFreed() {
	a := &st.OfRank.account
	r, ok := st.ownRecord()
	if !ok {
		return
	}
	r.name = st.comm.Name()
	for i := range r.tags {
		r.tags[i] = st.tags[i].Load()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sum += r.shareOf()
	if len(a.ended) == 2*keptRecords {
		a.ended = append(a.ended[:0], a.ended[keptRecords:]...)
	}
	a.ended = append(a.ended, r)
}

// endedWith gives what is known of a communicator that has been freed. a.mu is held.
func (a *freedCommUse) endedWith(uid uint64) *record {
	for i := range a.ended {
		if r := &a.ended[i]; r.uid == uid {
			return r
		}
	}
	return nil
}

// answerAsked is State.answerAsked for a communicator that this rank has freed. src is the rank that asks.
func (a *freedCommUse) answerAsked(p *RankState, src int, uid, call uint64, tag, lastTag int) {
	a.mu.Lock()
	r := a.endedWith(uid)
	if r == nil {
		a.mu.Unlock()
		return
	}
	mine, ok := algorithm.TagIn(r.tags[call%algorithm.KeptTags], call)
	if call > r.number {
		mine, ok = algorithm.MakeTag(int(r.size), algorithm.Free, 0, 0), true
	}
	rank := uint64(r.rank)
	a.mu.Unlock()
	if ok && answers(mine, tag, lastTag) {
		p.Server.Notify(src, [4]uint64{uid, call, rank<<32 | notice.Answer, uint64(mine)}, "")
	}
}

// noteFailed notes, for Finalize, that ranks have called different things on a communicator that this one has freed.
func (a *freedCommUse) noteFailed(p *RankState, uid uint64, e *sentinel.CollectiveError) {
	if p.isolated.Load() || !errors.Is(e.Err, sentinel.ErrMismatch) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.endedWith(uid); r != nil && r.unsure == 0 && a.found == nil {
		a.found = fmt.Errorf("mpi: Finalize: on %s: %w", r.name, e)
	}
}

// records are those of all communicators that are known, and the share of this rank in the sum.
func (p *RankState) records() (all []record, sum uint64) {
	p.mu.Lock()
	var live []*State
	for _, st := range p.m {
		if !st.comm.IsFreed() {
			live = append(live, st)
		}
	}
	p.mu.Unlock()
	p.account.mu.Lock()
	all, sum = append(all, p.account.ended...), p.account.sum
	p.account.mu.Unlock()
	for _, st := range live {
		if r, ok := st.ownRecord(); ok {
			r.name = st.comm.Name()
			all = append(all, r)
			sum += r.shareOf()
		}
	}
	return all, sum
}

// sumAndMost adds first words, and takes the greatest of second ones.
type sumAndMost struct{}

// Into implements Combiner.
func (sumAndMost) Into(out, low, high []byte) {
	o, l, h := twoWords(out), twoWords(low), twoWords(high)
	*o = [2]uint64{l[0] + h[0], max(l[1], h[1])}
}

func twoWords(b []byte) *[2]uint64 { return (*[2]uint64)(unsafe.Pointer(&b[0])) }

// CompareAll is the meeting of all ranks in Finalize. v is the world.
func (v *View) CompareAll() error {
	if v.size == 1 {
		return v.LastBarrier()
	}
	p := v.OfRank
	all, sum := p.records()
	mine, total := [2]uint64{sum, uint64(len(all))}, [2]uint64{}
	x := v.lastCall()
	x.buf[schedule.In], x.buf[schedule.Out] = bytesIn(mine[:]), bytesIn(total[:])
	x.op = argument.Operator{Combiner: sumAndMost{}, Commutes: true}
	x.fresh(algorithm.Finalize).AllreduceDoubling(x.schedulePlace(), int(unsafe.Sizeof(mine)), false)
	if err := x.perform(); err != nil {
		return err
	}
	p.findUnreported()
	if total[0] == 0 || total[1] == 0 {
		return nil
	}
	return v.findDiffering(all, int(total[1]))
}

// findUnreported sets the verdict if ranks have called different things, and this one has not been told of it by a
// call.
func (p *RankState) findUnreported() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, st := range p.m {
		if err := st.UnreportedError("Finalize"); err != nil {
			p.account.mu.Lock()
			p.account.found = err
			p.account.mu.Unlock()
		}
	}
}

// UnreportedError is the error of a call that another rank has found to differ, if no call of this rank has given it.
func (st *State) UnreportedError(what string) error {
	e := st.poison.Load()
	if e == nil || st.reported.Load() || st.OfRank.isolated.Load() || !errors.Is(e.Err, sentinel.ErrMismatch) {
		return nil
	}
	return st.comm.Errorf(what, ": %w", e)
}

// findDiffering exchanges up to most records among all ranks, and sets the verdict of this one.
func (v *View) findDiffering(all []record, most int) error {
	p := v.OfRank
	unsure := uint64(0)
	for range p.Rank.Threads().Threads() {
		unsure = 1 // its calls may be still to come
	}
	mine, theirs := make([]entry, most), make([]entry, most*v.size)
	for i, r := range all {
		mine[i] = r.entry
		mine[i].unsure |= unsure
	}
	x := v.lastCall()
	x.buf[schedule.In], x.buf[schedule.Out] = bytesIn(mine), bytesIn(theirs)
	x.fresh(algorithm.Finalize).AllgatherSteps(x.schedulePlace(), x.buf[schedule.In].len, false)
	if err := x.perform(); err != nil {
		return err
	}
	members := make(map[uint64][]entry)
	for _, e := range theirs {
		if e.size > 0 {
			members[e.uid] = append(members[e.uid], e)
		}
	}
	p.account.mu.Lock()
	defer p.account.mu.Unlock()
	for _, r := range all {
		if err := differing(members[r.uid], r.name); err != nil && p.account.found == nil {
			p.account.found = fmt.Errorf("mpi: Finalize: %w", err)
		}
	}
	return nil
}

// differing compares the entries of all ranks of the communicator called name. It gives an error only if they are sure
// to differ.
func differing(of []entry, name string) error {
	for _, e := range of {
		if e.unsure != 0 || len(of) != int(e.size) {
			return nil
		}
	}
	for i := range of {
		a, b := &of[0], &of[i]
		switch {
		case a.number != b.number:
			return fmt.Errorf("%w: on %s rank %d has made %s, rank %d %d", sentinel.ErrMismatch, name,
				a.rank, Plural(int(a.number), "call", "calls"), b.rank, b.number)
		case a.calls != b.calls:
			return fmt.Errorf("%w: on %s ranks %d and %d have made %s, not all of them the same", sentinel.ErrMismatch, name,
				a.rank, b.rank, Plural(int(a.number), "call", "calls"))
		}
	}
	for i := range of {
		for j := range i {
			if a, b := &of[j], &of[i]; !algorithm.SameTypes(a.types, b.types) {
				return fmt.Errorf("%w: ranks %d and %d in a call on %s", sentinel.ErrElements, a.rank, b.rank, name)
			}
		}
	}
	return nil
}

// Verdict is what Finalize has found wrong with the program.
func (p *RankState) Verdict() error {
	p.account.mu.Lock()
	defer p.account.mu.Unlock()
	return p.account.found
}

// Plural is n with the word for it.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}
