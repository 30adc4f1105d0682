//go:build unix

package launch

import (
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/platform/affinity"
	"github.com/golci/golci/internal/platform/topology"
)

// LocalRanks is the ranks of a job that run on this machine. One goroutine calls its methods, that of the thread on
// which the ranks are started. Its exported fields do not change from Start to the end of Wait.
type LocalRanks struct {
	First    int            // its first rank; the others follow
	Commands []boot.Command // programs, as paths, of its ranks; each has ranks
	Size     int            // ranks of the whole job, or of the world that they belong to
	Base     int            // first rank of that world
	Env      []string       // on top of this process's own, without the variables of other launchers there
	Bind     string         // "core" or "none"
	JobID    string         // of the job
	Guard    *Guard         // ends the ranks when this process is killed; may be nil
	Stdin    *os.File       // for rank 0; may be nil
	Owner    Owner

	count int            // its ranks, from Start on
	ranks []*Process     // by rank - First
	wg    sync.WaitGroup // goroutines that wait for processes
}

// Owner starts local ranks, and hears of them. The goroutines that wait for the ranks call Drained and
// Ended; the others are called by Start. A Job is one.
type Owner interface {
	// Attach takes the near end of the rank's PMI socket, which it owns from now on.
	Attach(rank int, c net.Conn)
	// Output says where the rank's stream 1 or 2 goes.
	Output(rank, stream int) (Sink, error)
	// Heard is closed when everything the rank has said over PMI has been taken.
	Drained(rank int) <-chan struct{}
	// Ended reports that the process has ended, and that its output has been taken.
	Ended(rank int, st Status)
	// Detail prints a step, for -v.
	Detail(format string, args ...any)
}

// Sink is the destination of an output stream of a rank. The rank writes to a file itself, or through a pipe to To.
type Sink struct {
	To   io.Writer
	file *os.File
	own  bool         // nobody but the rank uses file
	done func() error // may be nil
}

// Done is called when all has been written. If nobody takes the rest of it the rank is not to notice.
func (s Sink) Done() {
	if s.done != nil {
		_ = s.done()
	}
}

// Start starts all local ranks. After an error some may run; Kill and Wait end them.
func (c *LocalRanks) Start() error {
	for _, cmd := range c.Commands {
		if err := checkEnterable(cmd.Dir); err != nil {
			return fmt.Errorf("rank %d: working directory %s: %w", c.First+c.count, cmd.Dir, err)
		}
		c.count += cmd.N
	}
	base := append(cleanEnv(os.Environ()), c.Env...)
	b := c.newBinder()
	defer b.restoreMask()
	rank := c.First
	for i := range c.Commands {
		cmd := &c.Commands[i]
		env := append(slices.Clip(base), cmd.Env...)
		for range cmd.N {
			cpus, workers := b.bindRank(rank - c.First)
			if err := c.startRank(rank, cmd, withProcessors(env, workers)); err != nil {
				return fmt.Errorf("rank %d: %w", rank, err)
			}
			c.Owner.Detail("%s", placementText(rank, c.ranks[rank-c.First].PID(), cpus, b.unbound))
			rank++
		}
	}
	return nil
}

// checkEnterable says why a process cannot start in a directory, of which the system would not tell the name. "" is
// this process's.
func checkEnterable(dir string) error {
	if dir == "" {
		return nil
	}
	return unix.Access(dir+"/.", unix.X_OK)
}

// binder binds this thread to the cores of a rank before it starts that.
type binder struct {
	usable  []int   // CPUs of this thread before
	shares  [][]int // of the ranks; nil: they are not bound
	ranks   int
	unbound error // why ranks are not bound
}

func (c *LocalRanks) newBinder() *binder {
	return &binder{usable: affinity.Get(), shares: c.coreShares(), ranks: c.count}
}

// bindRank says on which CPUs the rank with that number on this machine runs, nil if it is not bound, and how many
// workers it is to have.
func (b *binder) bindRank(local int) (cpus []int, workers int) {
	if b.shares == nil {
		return nil, max(1, len(b.usable)/b.ranks)
	}
	cpus = b.shares[local]
	workers = len(cpus)
	if err := affinity.Set(cpus...); err != nil { // the job runs without it, too
		cpus, b.unbound = nil, err
		b.restoreMask()
	}
	return cpus, workers
}

func (b *binder) restoreMask() {
	if b.shares != nil {
		_ = affinity.Set(b.usable...)
	}
}

// withProcessors adds GOMAXPROCS for a rank of so many workers, unless the user has set it.
func withProcessors(env []string, workers int) []string {
	if hasVariable(env, "GOMAXPROCS") {
		return env
	}
	return append(slices.Clip(env), "GOMAXPROCS="+strconv.Itoa(processorsFor(askedWorkers(env, workers))))
}

// placementText says where a rank runs, or why it is not bound if that was wanted.
func placementText(rank, pid int, cpus []int, unbound error) string {
	switch {
	case cpus != nil:
		return fmt.Sprintf("rank %d: process %d on CPUs %s", rank, pid, topology.FormatList(cpus))
	case unbound != nil:
		return fmt.Sprintf("rank %d: process %d, not bound: %v", rank, pid, unbound)
	}
	return fmt.Sprintf("rank %d: process %d, not bound", rank, pid)
}

// coreShares deals the cores out, or returns nil when the ranks are not to be bound.
func (c *LocalRanks) coreShares() [][]int {
	if c.Bind != "core" || runtime.GOOS != "linux" {
		return nil
	}
	shares := topology.Read().Deal(c.count)
	if shares == nil {
		c.Owner.Detail("more ranks than cores: not bound")
	}
	return shares
}

// askedWorkers is the number of workers that the rank will start: that of the environment, or the one given.
func askedWorkers(env []string, workers int) int {
	name := settings.Workers.Env() + "="
	for _, kv := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(kv, name); ok {
			if n, err := strconv.Atoi(v); err == nil && n > 0 {
				return n
			}
			break
		}
	}
	return workers
}

// Kill sends sig to the group of every living rank.
func (c *LocalRanks) Kill(sig syscall.Signal) {
	for _, r := range c.ranks {
		r.Kill(sig)
	}
}

// Wait waits until all ranks that were started have ended and Ended has been called for them.
func (c *LocalRanks) Wait() { c.wg.Wait() }
