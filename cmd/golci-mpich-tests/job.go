package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

// job is one start of a program by the launcher, with its limits.
type job struct {
	argv, env []string
	dir       string
	time      time.Duration
	memory    int64 // bytes that all processes may have in memory together
}

// ending is how a job ended.
type ending struct {
	output string // of both streams
	bad    bool   // the launcher's code was not 0
	killed string // tooLong, tooMuch, or empty if it ended by itself
}

const (
	tooLong = "time"
	tooMuch = "memory"
)

const (
	every     = 100 * time.Millisecond // how often the memory is looked at
	lastWords = 2 * time.Second        // for the launcher to end the processes, once it is asked to
)

// jobs numbers the jobs of this process.
var jobs atomic.Int64

// run starts the job and waits for its end. When it returns, no process of the job is left that carries its mark.
func (j *job) run(ctx context.Context) (ending, error) {
	mark := fmt.Sprintf("MPICH_TESTS_JOB=%d-%d", os.Getpid(), jobs.Add(1))
	ctx, stop := context.WithTimeout(ctx, j.time)
	defer stop()
	out := &capped{}
	cmd := exec.CommandContext(ctx, j.argv[0], j.argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = j.dir, append(j.env, mark), out, out
	cmd.WaitDelay = lastWords
	cmd.Cancel = func() error { return askToEnd(cmd.Process) }
	if err := cmd.Start(); err != nil {
		return ending{}, err
	}
	family := newFamily(mark)
	done := make(chan struct{})
	var watch sync.WaitGroup
	ate := false
	watch.Go(func() { ate = j.watch(family, done) })
	err := cmd.Wait()
	close(done)
	watch.Wait()
	family.kill()
	end := ending{output: out.String(), bad: !cmd.ProcessState.Success()}
	var exit *exec.ExitError
	switch {
	case ate:
		end.killed = tooMuch
	case ctx.Err() != nil && err != nil:
		end.killed = tooLong
	case err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay):
		return end, err
	}
	return end, nil
}

// watch ends the job if its processes take too much memory; it returns whether they did.
func (j *job) watch(f *family, done <-chan struct{}) (ate bool) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return ate
		case <-tick.C:
			if f.memory() > j.memory {
				ate = true
				f.kill()
			}
		}
	}
}

// capped keeps the beginning of what is written to it.
type capped struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

const mostOutput = 1 << 20

func (c *capped) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if room := mostOutput - c.text.Len(); room > 0 {
		c.text.Write(p[:min(room, len(p))])
		if len(p) >= room {
			c.text.WriteString("\n[more output]\n")
		}
	}
	return len(p), nil
}

func (c *capped) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}
