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

// crew is the ranks of a job that run on this machine. One goroutine calls its methods, that of the thread on which the
// ranks are started. The goroutines that wait for the ranks call its callbacks.
type crew struct {
	first, count int      // its ranks: first .. first+count-1
	size         int      // ranks of the whole job
	argv         []string // program and arguments
	env          []string // without the variables of other launchers
	dir          string   // working directory; "" is this process's
	bind         string   // "core" or "none"
	jobID        string
	guard        *Guard
	stdin        *os.File // for rank 0

	attach func(rank int, c net.Conn)       // takes the near end of the rank's PMI socket, which it owns from now on
	stream func(rank, stream int) sink      // where the rank's stream 1 or 2 goes
	heard  func(rank int) <-chan struct{}   // closed when everything the rank has said over PMI has been taken
	ended  func(rank int, st status)        // the process has ended, and its output has been taken
	detail func(format string, args ...any) // for -v

	ranks []*rank        // by rank - first
	wg    sync.WaitGroup // goroutines that wait for processes
}

// sink is the destination of an output stream of a rank. The rank writes to a file itself, or through a pipe to a
// writer.
type sink struct {
	file *os.File
	to   io.Writer
	done func() error // called when all has been written; may be nil
}

// start starts all ranks of the crew. After an error some may run; kill and wait end them.
func (c *crew) start() error {
	usable := affinity.Get()
	shares := c.shares()
	defer func() {
		if shares != nil {
			_ = affinity.Set(usable...)
		}
	}()
	var unbound error // why ranks are not bound
	for i := range c.count {
		var cpus []int
		workers := max(1, len(usable)/c.count)
		if shares != nil {
			cpus = shares[i]
			workers = len(cpus)
			if err := affinity.Set(cpus...); err != nil { // the job runs without it, too
				cpus, unbound = nil, err
				_ = affinity.Set(usable...)
			}
		}
		env := c.env
		if !has(env, "GOMAXPROCS") {
			env = append(env[:len(env):len(env)], "GOMAXPROCS="+strconv.Itoa(processors(askedWorkers(env, workers))))
		}
		if err := c.startRank(c.first+i, env); err != nil {
			return fmt.Errorf("rank %d: %w", c.first+i, err)
		}
		c.detail("%s", placement(c.first+i, c.ranks[i].pid, cpus, unbound))
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
func (c *crew) shares() [][]int {
	if c.bind != "core" || runtime.GOOS != "linux" {
		return nil
	}
	shares := topology.Read().Deal(c.count)
	if shares == nil {
		c.detail("more ranks than cores: not bound")
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

// kill sends sig to the group of every living rank.
func (c *crew) kill(sig syscall.Signal) {
	for _, r := range c.ranks {
		r.kill(sig)
	}
}

// wait waits until all ranks that were started have ended and ended has been called for them.
func (c *crew) wait() { c.wg.Wait() }
