package wiring

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/transport/local"
	"github.com/golci/golci/internal/transport/mixed"
	"github.com/golci/golci/internal/transport/ofi"
	"github.com/golci/golci/internal/transport/shm"
	"github.com/golci/golci/internal/transport/udp"
	"github.com/golci/golci/rank/internal/terms"
)

// carrier is a conduit that GOLCI_CONDUIT may name.
type carrier struct {
	name  string
	reach string // whose ranks it joins, for people
	// look tells which way it takes on this system, if there are several, and why it cannot be used.
	look    func() (way string, lacks error)
	oneNode bool // it joins ranks of one node only
	// inside joins the ranks of this process, between this process with the others of the job. nil: it does not.
	inside  func(o *terms.Options, jobs []*boot.Job) ([]conduit.Conduit, error)
	between jobConnector
}

// carriers are all conduits that join ranks: the only list of them. The words of the setting are their names.
var carriers = []carrier{
	{name: local.Name, reach: "ranks in one process", look: lacksNothing, inside: joinByRings},
	{name: shm.Name, reach: "ranks of one machine", look: lookAtShared, oneNode: true, between: openShared},
	{
		name: udp.Name, reach: "ranks of any machines that reach each other", look: lacksNothing,
		inside: joinByDatagrams, between: openDatagrams,
	},
	{
		name: ofi.Name, reach: "ranks of any machines on a network of libfabric", look: lookAtFabric,
		inside: joinByFabric, between: openByFabric,
	},
}

// carrierOf is the entry of the conduit of that name.
func carrierOf(name string) *carrier {
	for i := range carriers {
		if carriers[i].name == name {
			return &carriers[i]
		}
	}
	return nil
}

// Conduit describes a conduit, for people.
type Conduit struct {
	Name  string // as GOLCI_CONDUIT names it
	Reach string // whose ranks it joins
	Way   string // which way it takes, of several that this system has; else empty
	Lacks error  // why it cannot be used on this system; nil if it can
}

// Conduits lists the conduits that GOLCI_CONDUIT may name. It asks the kernel for what they need. Builds that have
// libfabric ask that, too, which takes long.
func Conduits() []Conduit {
	out := make([]Conduit, len(carriers))
	for i, c := range carriers {
		way, lacks := c.look()
		out[i] = Conduit{Name: c.name, Reach: c.reach, Way: way, Lacks: lacks}
	}
	return out
}

func lacksNothing() (string, error) { return "", nil }

func lookAtShared() (string, error) { return "", shm.Lacks() }

// JoinRanks connects ranks that share this process: by rings, unless the setting names a conduit that does that, too.
func JoinRanks(o *terms.Options, jobs []*boot.Job) ([]conduit.Conduit, error) {
	if c := carrierOf(settings.Conduit.Get(o.Values)); c != nil && c.inside != nil {
		return c.inside(o, jobs)
	}
	return joinByRings(o, jobs)
}

// OpenConduit connects this process with the others of the job.
func OpenConduit(ctx context.Context, job *boot.Job, o *terms.Options) (conduit.Conduit, error) {
	name := settings.Conduit.Get(o.Values)
	if job.Size == 1 && name != shm.Name {
		all, err := joinByRings(o, []*boot.Job{job})
		if err != nil {
			return nil, err
		}
		return all[0], nil
	}
	c := carrierOf(name)
	if job.Room() {
		return openRoomy(ctx, o, job, c)
	}
	if c == nil {
		return openNearest(ctx, o, job)
	}
	if c.between == nil {
		return nil, fmt.Errorf("%w: the %s conduit joins the ranks of one process, and this job has %d processes",
			terms.ErrArgument, name, job.Size)
	}
	if err := c.reaches(job); err != nil {
		return nil, err
	}
	return c.between(ctx, o, job)
}

// openRoomy connects the ranks of a job with room for more, which c, if it is not nil, was asked to join.
func openRoomy(ctx context.Context, o *terms.Options, job *boot.Job, c *carrier) (conduit.Conduit, error) {
	if c != nil && c.name != shm.Name {
		return nil, fmt.Errorf("%w: %s=%s, and a job with room for more ranks (golci run -universe) needs %s",
			terms.ErrArgument, settings.Conduit.Env(), c.name, shm.Name)
	}
	if err := shm.Lacks(); err != nil {
		return nil, fmt.Errorf("%w: a job with room for more ranks (golci run -universe): %w", terms.ErrArgument, err)
	}
	return openShared(ctx, o, job)
}

// jobConnector connects this process with the others of the job.
type jobConnector func(ctx context.Context, o *terms.Options, job *boot.Job) (conduit.Conduit, error)

// openNearest takes shared memory within a node, where the system has it, and datagrams beyond.
func openNearest(ctx context.Context, o *terms.Options, job *boot.Job) (conduit.Conduit, error) {
	near := len(job.LocalRanks)
	o.Spans = near < job.Size || shm.Lacks() != nil
	if near == job.Size && shm.Lacks() == nil {
		return openShared(ctx, o, job)
	}
	return openMixed(ctx, o, job, openDatagrams)
}

// openMixed takes shared memory within a node, where the system has it, and a network beyond.
func openMixed(ctx context.Context, o *terms.Options, job *boot.Job, network jobConnector) (conduit.Conduit, error) {
	far, err := network(ctx, o, job)
	if err != nil || len(job.LocalRanks) == 1 || shm.Lacks() != nil {
		return far, err
	}
	rings, err := openShared(ctx, o, job)
	if err != nil {
		return nil, errors.Join(err, far.Close())
	}
	c, err := mixed.New(rings, far, job.Near)
	if err != nil {
		return nil, errors.Join(err, rings.Close(), far.Close())
	}
	return c, nil
}

// reaches refuses a conduit that does not lead to all ranks. On several nodes every rank finds this before it waits.
func (c *carrier) reaches(job *boot.Job) error {
	for r := range job.Size {
		if c.oneNode && !job.Near(r) {
			return fmt.Errorf("%w: %s=%s joins ranks of one node, and rank %d and rank %d are on different nodes; "+
				"set it to auto, which takes datagrams between nodes",
				terms.ErrArgument, settings.Conduit.Env(), c.name, job.Rank, r)
		}
	}
	return nil
}

// scanAll makes a poller look at the rings of up to so many ranks itself.
const scanAll = 64

// nearSlots are the chunks on their way to a rank of another process in a small job, 1 MiB: sender and receiver then
// wait for each other less.
const nearSlots = 32

func joinByRings(o *terms.Options, jobs []*boot.Job) ([]conduit.Conduit, error) {
	return local.New(len(jobs), o.ConduitConfig(len(jobs)))
}

func openShared(_ context.Context, o *terms.Options, job *boot.Job) (conduit.Conduit, error) {
	return shm.New(sharedConfig(job, o))
}

func sharedConfig(job *boot.Job, o *terms.Options) shm.Config {
	c := shm.Config{
		Rank: job.Rank, Size: job.Size, JobID: job.JobID + o.Name, Key: string(job.Key), Local: job.LocalRanks,
		Timeout: settings.InitTimeout.Get(o.Values), Conduit: o.ConduitConfig(job.Size),
	}
	if job.Size <= terms.NearRanks {
		c.Conduit.BulkSlots = cmp.Or(c.Conduit.BulkSlots, nearSlots)
	}
	if job.Room() {
		c.First, c.Count, c.Late = job.First, job.Mates, job.Late
		c.Conduit.ScanLimit = scanAll // rings that nobody has sent through cost the poller nothing
	}
	return c
}
