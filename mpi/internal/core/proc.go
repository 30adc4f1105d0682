package core

import (
	"errors"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/mpi/internal/arena"
	"github.com/golci/golci/mpi/internal/coll"
	"github.com/golci/golci/mpi/internal/contextid"
	"github.com/golci/golci/mpi/internal/signature"
	"github.com/golci/golci/rank"
)

// Proc is MPI's part of one rank of a job.
type Proc struct {
	rank    *rank.Rank // brought up; how it ends
	srv     *comm.Server
	world   *Comm
	self    *Comm
	ids     contextid.IDs
	system  system
	freed   freed
	colls   coll.RankState // of collectives
	layers  layerState
	arena   arena.Arena
	parts   partitionedMatcher
	faults  faults
	ports   ports
	parent  *Comm     // of spawned processes; set by JoinParent
	buffer  buffering // for communicators without one
	checked bool      // types are checked; fixed
}

// NewProc makes MPI's part of a rank, before there is traffic. inProcess tells a rank that shares its process with the
// others, where types are checked unless the settings say otherwise.
func NewProc(r *rank.Rank, inProcess bool) (*Proc, error) { return newProc(r, inProcess, true) }

// NewProcOfC is NewProc for a program that starts no light-weight threads, in a process of its own.
func NewProcOfC(r *rank.Rank) (*Proc, error) { return newProc(r, false, false) }

func newProc(r *rank.Rank, inProcess, threads bool) (p *Proc, err error) {
	p = &Proc{rank: r, checked: checked(r.Settings(), inProcess)}
	if p.srv, err = comm.New(r.Endpoint(), serverConfig(r, threads)); err != nil {
		return nil, err
	}
	r.Count("unexpected bytes", p.srv.UnexpectedBytes)
	p.ids.Init(p.srv)
	p.system.srv = p.srv
	p.growArena()
	p.colls.Rank, p.colls.Server, p.colls.IDs, p.colls.Arena = r, p.srv, &p.ids, &p.arena
	p.colls.InProcess, p.colls.Typed = inProcess, settings.Check.Get(r.Settings()) != "off"
	p.srv.OnNotice(p.noticed)
	p.srv.OnGone(p.died)
	p.world = newComm(creation{p: p}, contextid.World, contextid.WorldUID, ranks(r.Job()), r.Rank()-r.Job().First)
	p.self = newComm(creation{p: p}, contextid.Self, contextid.SelfUID, []int32{int32(r.Rank())}, 0)
	if err := r.Attach(rank.Layer{
		Report: p.reportWaits, Unended: p.unended, Meet: p.meetAll, AnyDead: p.anyDead,
		Stop: p.srv.Close, Verdict: p.colls.Verdict,
	}); err != nil {
		return nil, err
	}
	return p, nil
}

// died is told of the death of a rank of the job. It is called by the poller.
func (p *Proc) died(rank int, w *fult.Worker) {
	p.faults.died(rank, w)
	p.ports.died(rank)
	p.refuseAnySourceAll(rank, w)
}

// Isolate lets collectives go on after one that has failed; see RankState.Isolate.
func (p *Proc) Isolate() { p.colls.Isolate() }

// World is the communicator of all ranks that have started together.
func (p *Proc) World() *Comm { return p.world }

// Self is the communicator of this rank alone.
func (p *Proc) Self() *Comm { return p.self }

// OfRank is the rank itself, which MPI is one layer of.
func (p *Proc) OfRank() *rank.Rank { return p.rank }

// Server is the communication server below.
func (p *Proc) Server() *comm.Server { return p.srv }

// meetAll is this layer's part in Finalize.
func (p *Proc) meetAll() error {
	p.colls.Final.Store(true)
	if p.anyDead() {
		_, err := p.world.decided(p.world.scope("Finalize"), 0)
		return err
	}
	if err := p.world.checkUsable("Finalize"); err != nil {
		return err
	}
	return p.world.forColl().CompareAll()
}

// anyDead reports whether the program goes on without ranks that have died.
func (p *Proc) anyDead() bool { return p.faults.survived.Load() || p.world.Revoked() }

// ranks are all ranks of the world.
func ranks(job *rank.Job) []int32 {
	all := make([]int32, job.Mates)
	for i := range all {
		all[i] = int32(job.First + i)
	}
	return all
}

// Sizes of the matching table: an entry for each thread that may wait, and for packets besides.
const (
	packetEntries = 1 << 15
	maxEntries    = 1 << 20
	sharedEntries = 1 << 12 // of a rank that shares its process or its core, unless threads were asked for
)

func serverConfig(r *rank.Rank, threads bool) comm.Config {
	set := r.Settings()
	c := comm.Config{
		Eager: r.Eager(), LongEager: r.LongEager(), Entries: sharedEntries,
		Unexpected: int(settings.Unexpected.Get(set)), Scheme: rendezvousSchemes[settings.Rendezvous.Get(set)],
	}
	switch {
	case !threads:
		c.Entries = packetEntries
	case !r.Shared() || settings.Threads.Given(set):
		c.Entries = min(maxEntries, r.Threads().Workers()*settings.Threads.Get(set)+packetEntries)
	}
	if w := r.Waits(); w != nil {
		c.Waits = w
	}
	return c
}

// rendezvousSchemes are those of the setting.
var rendezvousSchemes = map[string]comm.Scheme{
	"auto": comm.Auto, "stream": comm.Stream, "get": comm.Get, "halves": comm.Halves,
}

// cause gives the reason behind the error of an operation that ended because the rank did.
func (p *Proc) cause(err error) error {
	p.rank.AwaitEnd()
	err = signature.NameTypes(err)
	if errors.Is(err, comm.ErrClosed) {
		if e := p.rank.Ended(); e != nil {
			return e
		}
	}
	return err
}
