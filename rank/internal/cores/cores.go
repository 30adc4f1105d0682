package cores

import (
	"context"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/platform/affinity"
	"github.com/golci/golci/internal/platform/topology"
)

const dedicatedFrom = 8 // own cores: one is for the communication server then, an eighth at most

// Plan says what runs where in a rank.
type Plan struct {
	Workers   int
	Pin       []int  // a CPU for each worker, nil to bind none
	Crowded   bool   // there are more ranks than cores
	Share     func() // gives the core to another rank; nil where only a sleep does, among ranks of one process
	perCPU    int    // ranks, rounded up
	Tight     bool   // workers share cores, with each other or with those of other ranks
	Dedicated bool
	ServerCPU int   // of the dedicated server, negative for none
	CPUs      []int // where the rank's threads may run
	Eagerly   bool  // workers start at once
}

// Share is what a rank has of the machine's cores.
type Share struct {
	cpus    []int // that this process may use
	cores   []int // one CPU of each core that this rank may use
	own     bool  // no other rank of the node may use them
	ranks   int   // on the node
	machine int   // CPUs that the node's ranks may use together
	Fixed   error // why the system lets no thread be bound; nil if it does
}

// ShareAmongProcesses finds what this rank may use, and whether others may, too. Every rank of the job calls it.
// Ranks that nobody has bound divide their cores, unless the setting says that they are not to be bound. key is a key
// of the job's store for this rank's use.
func ShareAmongProcesses(ctx context.Context, job *boot.Job, values *settings.Set, key string) (Share, error) {
	mine := affinity.Get()
	near := job.LocalRanks
	if job.Room() {
		near = job.World()
	}
	all, err := boot.ExchangeNear(ctx, job, key, []byte(topology.FormatList(mine)), near)
	if err != nil {
		return Share{}, err
	}
	// Spawned ranks have no core of their own: the launcher has given the cores to those that it has started first.
	s := Share{cpus: mine, own: job.First == 0, ranks: job.First + len(near), Fixed: affinity.Check()}
	users := make(map[int]int)
	same := job.First == 0
	for _, text := range all {
		theirs := topology.ParseList(string(text))
		same = same && slices.Equal(theirs, mine)
		for _, cpu := range theirs {
			users[cpu]++
		}
	}
	for _, cpu := range mine {
		s.own = s.own && users[cpu] == 1
	}
	s.machine = len(users)
	s.cores = firstCPUs()
	if settings.Bind.Get(values) == "core" && same && !s.own && s.Fixed == nil {
		s.divide(slices.Index(near, job.Rank))
	}
	return s, nil
}

// divide gives rank me of the ranks of a node, all of which may use the same cores, its own: consecutive ones, as golci
// run deals them. Without that several ranks may spin on one core for a while. With too few cores it does nothing.
func (s *Share) divide(me int) {
	n := len(s.cores)
	if me < 0 || n < s.ranks {
		return
	}
	s.cores, s.own = s.cores[me*n/s.ranks:(me+1)*n/s.ranks], true
}

// ShareInProcess is what each of n ranks in this process may count on.
func ShareInProcess(n int) Share {
	return Share{cpus: affinity.Get(), ranks: n, machine: affinity.Count(), cores: firstCPUs()}
}

// firstCPUs is one CPU of each core that this process may use. The caller must not change the slice.
func firstCPUs() []int { return readCores.firstOf(affinity.Get(), topology.Read) }

// readCores keeps what firstCPUs has read from files.
var readCores coreCache

// coreCache is one CPU of each core, by the CPUs that may be used. A process has few sets of these.
type coreCache struct {
	mu    sync.Mutex // nothing is locked under it
	first map[string][]int
}

// firstOf is firstCPUs for the CPUs in usable. read is called once for each set.
func (c *coreCache) firstOf(usable []int, read func() topology.Map) []int {
	key := topology.FormatList(usable)
	c.mu.Lock()
	defer c.mu.Unlock()
	out, ok := c.first[key]
	if !ok {
		for _, cpus := range read().Cores() {
			out = append(out, cpus[0])
		}
		if c.first == nil {
			c.first = make(map[string][]int)
		}
		c.first[key] = out
	}
	return slices.Clip(out)
}

// PlanFor decides. The settings go before the defaults.
func PlanFor(values *settings.Set, s Share) Plan {
	cores := max(1, len(s.cores))
	if !s.own {
		cores = max(1, cores/max(1, s.ranks))
	}
	p := Plan{
		Crowded: s.ranks > s.machine, perCPU: (s.ranks + s.machine - 1) / max(1, s.machine),
		ServerCPU: -1, CPUs: s.cpus,
	}
	mode := settings.Server.Get(values)
	p.Dedicated = mode == "dedicated" || mode == "auto" && s.own && cores >= dedicatedFrom
	p.Eagerly = mode == "worker"
	p.Workers = settings.Workers.Get(values)
	if p.Workers == 0 {
		p.Workers = cores
		if p.Dedicated && cores > 1 {
			p.Workers--
		}
	}
	p.Tight = p.Crowded || p.Workers > cores
	if s.own && s.Fixed == nil && p.Workers <= len(s.cores) {
		p.Pin, p.CPUs = s.cores[:p.Workers], s.cores
		if p.Dedicated && p.Workers < len(s.cores) {
			p.ServerCPU = s.cores[p.Workers]
		}
	}
	return p
}

// Turns is how many spinning times a wait lasts before it sleeps: each rank of a core has its turn meanwhile.
func (p Plan) Turns() time.Duration {
	if p.Share == nil {
		return 1
	}
	return time.Duration(max(1, p.perCPU))
}

// SpareProcessors raises GOMAXPROCS, unless the user has set it: polling workers leave nothing to others.
func SpareProcessors(p Plan) {
	if os.Getenv("GOMAXPROCS") != "" {
		return
	}
	need := p.Workers + 1
	if p.Dedicated {
		need++
	}
	if runtime.GOMAXPROCS(0) < need {
		runtime.GOMAXPROCS(need)
	}
}
