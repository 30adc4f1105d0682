package mpi

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
)

// A rank may make nothing but calls that have nothing to wait for. It carries out what others send it all the same.

// stage is what the calls of rank 0 use.
type stage struct {
	c, alone *Comm // alone has no neighbours
	mapped   *Win[int64]
	made     *Win[int64]
	closed   *Win[int64] // without an epoch
	one, two []int64
}

// lonely is a call that ends at once.
type lonely struct {
	name string
	// prepare gives the call, which may be made any number of times, and what ends it.
	prepare func(s *stage) (call func() error, end func() error, err error)
	both    bool // rank 1 makes it, too, bothCalls times after it has sent
}

const bothCalls = 64

// agreed orders the steps of the two ranks without MPI: rank 0 is ready, and rank 1 has sent.
type agreed struct {
	ready, sent   func() error
	readied, went func() error // wait for these
}

// inTurns is how many calls a rank makes after what the other one has sent is there.
const inTurns = 64 * 16

// roleInTurn has rank 1 add to a word of rank 0 that does nothing but each of the calls. With bounded not seeing it is
// an error; else rank 0 looks until it does.
func roleInTurn(c *Comm, m agreed, bounded bool) error {
	word := make([]int64, 1)
	w, err := CreateWin(c, word)
	if err != nil {
		return err
	}
	s, err := newStage(c)
	if err != nil {
		return err
	}
	if err := errors.Join(w.LockAll(0), c.Barrier()); err != nil { // all have their locks
		return err
	}
	var errs []error
	for i, x := range lonelyCalls() {
		if c.Rank() == 0 {
			err = x.attend(s, m, word, int64(i+1), bounded)
		} else {
			err = errors.Join(m.readied(), w.Accumulate([]int64{1}, 0, 0, Sum), m.sent(), x.follow(s), w.Flush(0))
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", x.name, err))
		}
	}
	return errors.Join(append(errs, c.Barrier(), w.UnlockAll(), w.Free(), s.free())...)
}

// attend makes the call until the word has got to want.
func (x *lonely) attend(s *stage, m agreed, word []int64, want int64, bounded bool) error {
	call, end, err := x.prepare(s)
	if err := errors.Join(err, m.ready(), m.went()); err != nil {
		return err
	}
	if word[0] != want-1 {
		return fmt.Errorf("the word is %d before the first call, want %d", word[0], want-1)
	}
	most := inTurns
	if x.both {
		most = bothCalls
	}
	for i := 0; err == nil && (x.both && i < most || word[0] != want && (!bounded || i < most)); i++ {
		if err = call(); !bounded {
			runtime.Gosched()
		}
	}
	if word[0] != want && err == nil && bounded {
		err = fmt.Errorf("%d calls have not carried out what the other rank has sent", most)
	}
	for word[0] != want { // so that the next call has its own
		_, _, _ = s.c.Iprobe(AnySource, AnyTag)
	}
	return errors.Join(err, end())
}

// follow makes the calls of rank 1.
func (x *lonely) follow(s *stage) error {
	if !x.both {
		return nil
	}
	call, end, err := x.prepare(s)
	for i := 0; i < bothCalls && err == nil; i++ {
		err = call()
	}
	return errors.Join(err, end())
}

func newStage(c *Comm) (s *stage, err error) {
	s = &stage{c: c, one: make([]int64, 1), two: make([]int64, 1)}
	made := make([]int64, 4)
	if s.alone, err = c.Proc().Self().CreateDistGraphAdjacent(nil, nil, false); err != nil {
		return nil, err
	}
	if s.mapped, err = AllocateWin[int64](c, 4); err != nil {
		return nil, err
	}
	if s.made, err = CreateWin(c, made); err != nil {
		return nil, err
	}
	if s.closed, err = CreateWin(c, made); err != nil {
		return nil, err
	}
	return s, errors.Join(s.mapped.LockAll(0), s.made.LockAll(0), c.Barrier())
}

func (s *stage) free() error {
	return errors.Join(s.mapped.UnlockAll(), s.mapped.Free(), s.made.UnlockAll(), s.made.Free(), s.closed.Free(),
		s.alone.Free())
}

// channels are a agreed of ranks of one process.
func channels() agreed {
	ready, sent := make(chan struct{}, 1), make(chan struct{}, 1)
	tell := func(ch chan struct{}) func() error { return func() error { ch <- struct{}{}; return nil } }
	hear := func(ch chan struct{}) func() error { return func() error { <-ch; return nil } }
	return agreed{ready: tell(ready), sent: tell(sent), readied: hear(ready), went: hear(sent)}
}

// TestCallsPollInTurn: whatever a rank calls, others make progress (2.9, 12.7.3).
func TestCallsPollInTurn(t *testing.T) {
	for _, collectives := range []string{"messages", "memory"} {
		m := channels()
		must(t, 2, func(c *Comm) error { return roleInTurn(c, m, true) }, With("GOLCI_CONDUIT", "local"),
			With("GOLCI_COLLECTIVES", collectives), WithServer("waiter"))
	}
}

// TestCallsPollInTurnOverDatagrams is the same where nobody knows how many polls a message takes.
func TestCallsPollInTurnOverDatagrams(t *testing.T) {
	m := channels()
	must(t, 2, func(c *Comm) error { return roleInTurn(c, m, false) }, With("GOLCI_CONDUIT", "udp"), WithServer("waiter"))
}

// lonelyCalls are all kinds of calls that can end without a poll.
func lonelyCalls() []lonely {
	return append(append(append(requestCalls(), nullCalls()...), windowCalls()...), selfCalls()...)
}

// simply is a call that needs no preparation.
func simply(name string, call func(s *stage) error) lonely {
	return lonely{name: name, prepare: func(s *stage) (func() error, func() error, error) {
		return func() error { return call(s) }, noEnd, nil
	}}
}

func noEnd() error { return nil }

// tested tests a request that has been started, or not, until it is done.
func tested(r Request, err error) error {
	for done := false; !done && err == nil; {
		_, done, err = r.Test()
	}
	return err
}
