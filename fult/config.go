package fult

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// Kind says what a thread of a scheduler is.
type Kind uint8

const (
	// Fult threads are coroutines that the package schedules by bits. Builds with the race detector use Goroutines in
	// their place. For the detector, switches of coroutines order all threads of a worker, which would hide races.
	// Releases of Go that fail the self-check use Goroutines, too.
	Fult       Kind = iota
	Goroutines      // each thread is a goroutine, which the Go runtime schedules
	OSThreads       // each is locked to an OS thread, and waits on a condition variable
)

// String returns the name of k.
func (k Kind) String() string {
	switch k {
	case Fult:
		return "fult"
	case Goroutines:
		return "goroutine"
	case OSThreads:
		return "osthread"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// MaxThreads is the largest number of threads that are alive on one worker at a time: 64 x 64 x 8 x 8 bits.
const MaxThreads = groupsPerWorker * groupSize

const raceThreads = 8000 // under the race detector, which fails at about 8,128 goroutines

// Config configures a Scheduler. The zero value gives one worker that is not pinned, and the defaults named below.
type Config struct {
	Workers    int   // number of workers; default 1
	Pin        []int // the CPU of each worker; empty: no pinning; fewer CPUs than workers are an error
	MaxThreads int   // alive on each worker; default and maximum are 262,144
	// Spin is the time for which an idle worker polls before it sleeps. The default is 50 us, or 1 us where GOMAXPROCS
	// does not exceed the number of workers. A negative value means no polling.
	Spin time.Duration
	// Crowded says that workers share cores, with each other or with other processes. While one polls in vain, it lets
	// the others run.
	Crowded bool
	// Kind is the kind of the threads. The default is Fult, which may become Goroutines: see Effective.
	Kind Kind
	// Unchecked keeps coroutines where the self-check refuses the release of Go. Such a release may end the process.
	Unchecked bool
	// StuckAfter is how long a worker may stay in one thread before OnStuck is called. 10 s if 0, never if negative.
	StuckAfter time.Duration
	// OnStuck is called by the monitor: each time that a worker gets stuck, and the first time that one spends most of
	// a second asleep in its threads (StuckReport.Asleep). Default: print to standard error.
	OnStuck func(StuckReport)

	// coroutines keeps coroutine threads in builds with the race detector, for tests of the scheduler itself.
	coroutines bool
	// pollWithin is how long threads should run between two polls.
	pollWithin time.Duration
	// hook is called in builds with invariants, at each window in which a wake-up could get lost. Tests widen them.
	hook func(window)
	// stack is runtime.Stack; tests count its calls.
	stack func(buf []byte, all bool) int
}

const (
	defaultSpin       = 50 * time.Microsecond
	crowdedSpin       = time.Microsecond
	defaultStuckAfter = 10 * time.Second
	// Few threads that compute between their switches would otherwise keep messages waiting for switchesPerPoll times as
	// long as one of them computes.
	defaultPollWithin = 20 * time.Microsecond
	maxWorkers        = 4096
)

func (c Config) withDefaults() (Config, error) {
	c.Workers, c.MaxThreads = cmp.Or(c.Workers, 1), cmp.Or(c.MaxThreads, MaxThreads)
	c.StuckAfter, c.pollWithin = cmp.Or(c.StuckAfter, defaultStuckAfter), cmp.Or(c.pollWithin, defaultPollWithin)
	if c.Spin == 0 {
		c.Spin = defaultSpin
		if runtime.GOMAXPROCS(0) <= c.Workers {
			c.Spin = crowdedSpin
		}
	}
	if c.OnStuck == nil {
		c.OnStuck = printStuck
	}
	if c.stack == nil {
		c.stack = runtime.Stack
	}
	kind, why := c.Effective()
	if why != nil && !raceEnabled {
		warnGoroutines(why)
	}
	c.Kind = kind
	return c, c.checkConfig()
}

var errRace = errors.New("the race detector sees goroutines only")

// Effective returns the kind of the threads of a scheduler with this configuration, and why it is not Kind. Fult
// becomes Goroutines in builds with the race detector, and where the release of Go does not pass the self-check. The
// first call in a process runs that check, which takes about 0.1 ms.
func (c Config) Effective() (Kind, error) {
	if c.Kind != Fult || c.coroutines {
		return c.Kind, nil
	}
	if raceEnabled {
		return Goroutines, errRace
	}
	if c.Unchecked {
		return Fult, nil
	}
	if err := selfCheck(); err != nil {
		return Goroutines, err
	}
	return Fult, nil
}

func (c Config) checkConfig() error {
	switch {
	case c.Workers < 1 || c.Workers > maxWorkers:
		return fmt.Errorf("fult: %d workers: %w", c.Workers, ErrConfig)
	case c.MaxThreads < 1 || c.MaxThreads > MaxThreads:
		return fmt.Errorf("fult: %d threads per worker, at most %d: %w", c.MaxThreads, MaxThreads, ErrConfig)
	case len(c.Pin) != 0 && len(c.Pin) < c.Workers:
		return fmt.Errorf("fult: %d CPUs for %d workers: %w", len(c.Pin), c.Workers, ErrConfig)
	case c.Kind > OSThreads:
		return fmt.Errorf("fult: %v: %w", c.Kind, ErrConfig)
	}
	for _, cpu := range c.Pin {
		if cpu < 0 {
			return fmt.Errorf("fult: CPU %d: %w", cpu, ErrConfig)
		}
	}
	return nil
}
