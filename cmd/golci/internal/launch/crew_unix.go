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

	"github.com/golci/golci/internal/affinity"
	"github.com/golci/golci/internal/settings"
	"github.com/golci/golci/internal/topology"
)

// Crew is the ranks of a job that run on this machine. One goroutine calls its methods, that of the thread on which the
// ranks are started. Its exported fields do not change from Start to the end of Wait.
type Crew struct {
	First, Count int      // its ranks: First .. First+Count-1
	Size         int      // ranks of the whole job, or of the world that they belong to
	Base         int      // first rank of that world
	Argv         []string // program and arguments
	Env          []string // on top of this process's own, without the variables of other launchers there
	Dir          string   // working directory; "" is this process's
	Bind         string   // "core" or "none"
	JobID        string   // of the job
	Guard        *Guard   // ends the ranks when this process is killed; may be nil
	Stdin        *os.File // for rank 0; may be nil
	Owner        Owner

	ranks []*Process     // by rank - First
	wg    sync.WaitGroup // goroutines that wait for processes
}

// Owner has the ranks of a crew started, and hears of them. The goroutines that wait for the ranks call Heard and
// Ended; the others are called by Start. A Job is one.
type Owner interface {
	// Attach takes the near end of the rank's PMI socket, which it owns from now on.
	Attach(rank int, c net.Conn)
	// Output says where the rank's stream 1 or 2 goes.
	Output(rank, stream int) Sink
	// Heard is closed when everything the rank has said over PMI has been taken.
	Heard(rank int) <-chan struct{}
	// Ended reports that the process has ended, and that its output has been taken.
	Ended(rank int, st Status)
	// Detail prints a step, for -v.
	Detail(format string, args ...any)
}

// Sink is the destination of an output stream of a rank. The rank writes to a file itself, or through a pipe to To.
type Sink struct {
	To   io.Writer
	file *os.File
	done func() error // may be nil
}

// Done is called when all has been written. If nobody takes the rest of it the rank is not to notice.
func (s Sink) Done() {
	if s.done != nil {
		_ = s.done()
	}
}

// Start starts all ranks of the crew. After an error some may run; Kill and Wait end them.
func (c *Crew) Start() error {
	usable := affinity.Get()
	base := append(cleanEnv(os.Environ()), c.Env...)
	shares := c.shares()
	defer func() {
		if shares != nil {
			_ = affinity.Set(usable...)
		}
	}()
	var unbound error // why ranks are not bound
	for i := range c.Count {
		var cpus []int
		workers := max(1, len(usable)/c.Count)
		if shares != nil {
			cpus = shares[i]
			workers = len(cpus)
			if err := affinity.Set(cpus...); err != nil { // the job runs without it, too
				cpus, unbound = nil, err
				_ = affinity.Set(usable...)
			}
		}
		env := base
		if !has(env, "GOMAXPROCS") {
			env = append(env[:len(env):len(env)], "GOMAXPROCS="+strconv.Itoa(processors(askedWorkers(env, workers))))
		}
		if err := c.startRank(c.First+i, env); err != nil {
			return fmt.Errorf("rank %d: %w", c.First+i, err)
		}
		c.Owner.Detail("%s", placement(c.First+i, c.ranks[i].PID(), cpus, unbound))
	}
	return nil
}

// placement says where a rank runs, or why it is not bound if that was wanted.
func placement(rank, pid int, cpus []int, unbound error) string {
	switch {
	case cpus != nil:
		return fmt.Sprintf("rank %d: process %d on CPUs %s", rank, pid, topology.FormatList(cpus))
	case unbound != nil:
		return fmt.Sprintf("rank %d: process %d, not bound: %v", rank, pid, unbound)
	}
	return fmt.Sprintf("rank %d: process %d, not bound", rank, pid)
}

// shares deals the cores out, or returns nil when the ranks are not to be bound.
func (c *Crew) shares() [][]int {
	if c.Bind != "core" || runtime.GOOS != "linux" {
		return nil
	}
	shares := topology.Read().Deal(c.Count)
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
func (c *Crew) Kill(sig syscall.Signal) {
	for _, r := range c.ranks {
		r.Kill(sig)
	}
}

// Wait waits until all ranks that were started have ended and Ended has been called for them.
func (c *Crew) Wait() { c.wg.Wait() }
