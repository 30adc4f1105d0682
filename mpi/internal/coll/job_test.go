package coll

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/mpi/internal/arena"
	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/contextid"
	"github.com/golci/golci/mpi/internal/notice"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/signature"
	"github.com/golci/golci/rank"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(udptest.Patiently(m)) }

// testRank is what a rank of a test has besides its collectives.
type testRank struct {
	RankState
	ids   contextid.IDs
	arena arena.Arena
	world *testComm
	next  int // id of the next communicator: all ranks make them in one order
}

// testComm is a communicator of tests: all ranks of the job, and nothing but collectives.
type testComm struct {
	*State
	r     *testRank
	freed atomic.Bool
}

// run runs a job of n ranks.
func run(t *testing.T, n int, f func(c *testComm) error, pairs ...string) {
	t.Helper()
	cfg := rank.Config{Caller: "coll", Settings: map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		cfg.Settings[pairs[i]] = pairs[i+1]
	}
	all := make([]*testRank, n)
	cfg.Attach = func(r *rank.Rank) (err error) {
		all[r.Rank()], err = newTestRank(r)
		return err
	}
	team, err := rank.Local(n, cfg)
	if err == nil {
		err = team.Run(func(r *rank.Rank) error { return f(all[r.Rank()].world) })
	}
	if err != nil {
		t.Fatal(err)
	}
}

func newTestRank(r *rank.Rank) (*testRank, error) {
	srv, err := comm.New(r.Endpoint(), comm.Config{Eager: r.Eager(), LongEager: r.LongEager(), Entries: 1 << 12})
	if err != nil {
		return nil, err
	}
	p := &testRank{next: contextid.Self + 1}
	p.Rank, p.Server, p.IDs, p.Arena, p.InProcess, p.Typed = r, srv, &p.ids, &p.arena, true,
		settings.Check.Get(r.Settings()) != "off"
	p.ids.Init(srv)
	allocate := conduit.Allocate
	if m := p.remote(); m != nil {
		allocate = m.Allocate
	}
	p.arena.Init(allocate)
	srv.OnNotice(p.noticed)
	p.world = p.newComm(contextid.World, contextid.WorldUID)
	return p, r.Attach(rank.Layer{
		Meet: p.world.forColl().CompareAll, Stop: srv.Close, Verdict: p.Verdict,
	})
}

func (p *testRank) noticed(src int, args [4]uint64, text []byte, w *fult.Worker) {
	if args[2]&notice.LowHalf == notice.Left {
		p.ids.NoteLeft(int(args[3]), 0)
		return
	}
	p.Noticed(src, args, text, w)
}

func (p *testRank) newComm(id int, uid uint64) *testComm {
	peers := make([]int32, p.Rank.Size())
	for i := range peers {
		peers[i] = int32(i)
	}
	c := &testComm{r: p}
	c.State = NewState(c, Env{
		Server: p.Server, Context: uint16(2*id + 1), ID: id, UID: uid, Peers: peers, Rank: p.Rank.Rank(),
		Checked: p.Typed, OfRank: &p.RankState,
	})
	p.Add(c.State)
	return c
}

// Dup makes another communicator of all ranks.
func (c *testComm) Dup() (*testComm, error) {
	id := c.r.next
	c.r.next++
	if err := c.Barrier(); err != nil {
		return nil, err
	}
	return c.r.newComm(id, contextid.Mix(c.UID, uint64(id))), nil
}

// Free ends the use of c.
func (c *testComm) Free() error {
	c.NoteFreed()
	c.freed.Store(true)
	c.OfRank.Remove(c.State)
	c.r.ids.NoteLeft(c.ID, len(c.Peers))
	for _, w := range c.Peers {
		c.Server.Notify(int(w), [4]uint64{2: notice.Left, 3: uint64(c.ID)}, "")
	}
	return nil
}

func (c *testComm) forColl() *View { return &c.whole }

func (c *testComm) Barrier() error                                  { return c.forColl().Barrier("Barrier") }
func (c *testComm) Do(k *argument.Description) error                { return c.forColl().Do(k) }
func (c *testComm) Start(k *argument.Description) (comm.Req, error) { return c.forColl().Start(k) }

func (c *testComm) Ibarrier() (comm.Req, error) { return c.forColl().Ibarrier() }

func (c *testComm) allAnd(mine, all []byte) (call uint64, err error) {
	return c.forColl().AllAnd("Allreduce", mine, all)
}
func (c *testComm) Size() int { return len(c.Peers) }
func (c *testComm) Rank() int { return c.Env.Rank }

// wait waits for a call that does not wait itself.
func (c *testComm) wait(r comm.Req) error {
	_, err := c.Server.Wait(r)
	if err != nil {
		err = c.OpError("Wait", err)
	}
	return err
}

// tell and hear are a message that is none of a collective.
func (c *testComm) tell(dest int) error {
	return c.Server.Send(c.Context-1, dest, 9, []byte{1}, nil)
}

func (c *testComm) hear(source int) error {
	_, err := c.Server.Recv(c.Context-1, source, 9, make([]byte, 1), nil)
	return err
}

// The methods of Communicator.

func (c *testComm) CheckUsable(what string) error {
	if c.freed.Load() {
		return c.Errorf(what, ": %w", sentinel.ErrComm)
	}
	if err := c.OfRank.Rank.Ended(); err != nil {
		return c.Errorf(what, ": %w", err)
	}
	return nil
}

func (c *testComm) Errorf(what, format string, args ...any) error {
	return fmt.Errorf("%s: %s"+format, append([]any{what, c.Who()}, args...)...)
}

func (c *testComm) OpError(what string, err error) error {
	if e, ok := err.(*CallError); ok {
		return e.Reported()
	}
	return c.Errorf(what, ": %w", c.Cause(err))
}

func (c *testComm) Cause(err error) error {
	if e, ok := errors.AsType[*comm.OpError](err); ok {
		err = e.Err
	}
	return signature.NameTypes(err)
}

func (c *testComm) Who() string                        { return fmt.Sprintf("rank %d of %d", c.Rank(), c.Size()) }
func (c *testComm) Name() string                       { return fmt.Sprint("communicator ", c.ID) }
func (c *testComm) PeerOf(world int) int               { return slices.Index(c.Peers, int32(world)) }
func (c *testComm) Revoked() bool                      { return false }
func (c *testComm) Revoke() error                      { return errors.ErrUnsupported }
func (c *testComm) IsFreed() bool                      { return c.freed.Load() }
func (c *testComm) Neighborhood() *schedule.Neighbours { return nil }
