//go:build unix

package launch

import (
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/golci/golci/comm/boot"
	"github.com/golci/golci/comm/boot/pmi"
	"github.com/golci/golci/comm/boot/serve"
	"github.com/golci/golci/internal/settings"
	"github.com/golci/golci/internal/topology"
)

// job is a running job. Only the goroutine of Run touches it, except where a field says otherwise.
type job struct {
	spec   *Spec
	policy *policy
	srv    *serve.Server // safe for concurrent use
	ranks  []*rank
	alarm  *time.Timer
	out    *shared
	err    *shared
	key    []byte

	heard []chan struct{} // one a rank, closed by the server when it has taken everything the rank has sent
	exits chan int        // ranks whose processes have ended; each has a place in the buffer
	fails chan failure    // from the PMI server
	over  chan struct{}
	wg    sync.WaitGroup // goroutines that wait for processes
}

// failure is what the server tells of a rank: that the job cannot go on, or that it ends by agreement.
type failure struct {
	rank, code int
	text       string
	agreed     bool
}

// Run runs the job s to its end and returns its exit code: the greatest of the ranks' codes, or 128 and the number of
// the signal that ended a rank. The error says that the job could not be started; nothing is left of it then. Run
// blocks, and keeps its OS thread to itself: where the kernel offers it, the ranks are killed when that thread ends.
func Run(s *Spec) (code int, err error) {
	if err := s.check(); err != nil {
		return 2, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	j := &job{
		spec: s, policy: newPolicy(s.Ranks, s.Grace, s.Limit), key: boot.NewKey(), alarm: time.NewTimer(time.Hour),
		out: &shared{w: s.Stdout}, err: &shared{w: s.Stderr},
		exits: make(chan int, s.Ranks), fails: make(chan failure), over: make(chan struct{}),
	}
	j.alarm.Stop()
	for range s.Ranks {
		j.heard = append(j.heard, make(chan struct{}))
	}
	j.srv, err = serve.New(pmi.Config{
		Size: s.Ranks, KVSName: "golci-" + boot.IDFromKey(j.key),
		Preset: map[string]string{
			pmi.KeySecret:  hex.EncodeToString(j.key),
			pmi.KeyMapping: fmt.Sprintf("(vector,(0,1,%d))", s.Ranks),
		},
	}, serve.Hooks{Fail: j.failed, Leave: j.leaves, EOF: func(rank int) { close(j.heard[rank]) }})
	if err != nil {
		return 2, err
	}
	defer j.end()
	if err := j.start(); err != nil {
		return 126, err
	}
	j.watch()
	return j.policy.code, nil
}

func (j *job) failed(rank, code int, text string) {
	j.report(failure{rank: rank, code: code, text: text})
}

func (j *job) leaves(rank, code int, text string) {
	j.report(failure{rank: rank, code: code, text: text, agreed: true})
}

// report is called by the server's goroutines.
func (j *job) report(f failure) {
	select {
	case j.fails <- f:
	case <-j.over:
	}
}

// start starts all ranks.
func (j *job) start() error {
	usable := topology.Usable()
	shares := j.shares()
	defer func() {
		if shares != nil {
			_ = topology.Pin(usable)
		}
	}()
	base := append(cleanEnv(os.Environ()), j.spec.Env...)
	for i := range j.spec.Ranks {
		env := base
		workers := max(1, len(usable)/j.spec.Ranks)
		if shares != nil {
			workers = len(shares[i])
			if err := topology.Pin(shares[i]); err != nil {
				return err
			}
		}
		if !has(env, "GOMAXPROCS") {
			env = append(env[:len(env):len(env)], "GOMAXPROCS="+strconv.Itoa(processors(askedWorkers(env, workers))))
		}
		if err := j.startRank(i, env); err != nil {
			return fmt.Errorf("rank %d: %w", i, err)
		}
		if shares != nil {
			j.detail("rank %d: process %d on CPUs %s", i, j.ranks[i].pid, topology.FormatList(shares[i]))
		} else {
			j.detail("rank %d: process %d, not bound", i, j.ranks[i].pid)
		}
	}
	return nil
}

// shares deals the cores out, or returns nil when the ranks are not to be bound.
func (j *job) shares() [][]int {
	if j.spec.Bind != "core" || runtime.GOOS != "linux" {
		return nil
	}
	shares := topology.Read().Deal(j.spec.Ranks)
	if shares == nil {
		j.detail("more ranks than cores: not bound")
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

// watch carries out the policy until all ranks have ended.
func (j *job) watch() {
	var timeout <-chan time.Time
	if j.spec.Timeout > 0 {
		t := time.NewTimer(j.spec.Timeout)
		defer t.Stop()
		timeout = t.C
	}
	for !j.policy.done() {
		select {
		case r := <-j.exits:
			j.obey(j.policy.exited(r, j.ranks[r].status))
			j.goneLater(r)
		case f := <-j.fails:
			j.obey(j.take(f))
		case sig := <-j.spec.Signals:
			if s, ok := sig.(syscall.Signal); ok {
				j.obey(j.policy.signalled(s))
			}
		case <-j.alarm.C:
			j.obey(j.policy.alarm())
		case <-timeout:
			j.obey(j.policy.timedOut(j.spec.Timeout))
		}
	}
}

func (j *job) take(f failure) []order {
	if f.agreed {
		return j.policy.leaves(f.rank, f.text)
	}
	return j.policy.failed(f.rank, f.code, f.text)
}

// goneLater tells the server that a rank has ended, from another goroutine, because the server may answer with a
// failure that watch has to take.
func (j *job) goneLater(rank int) {
	j.wg.Go(func() { j.srv.Gone(rank) })
}

func (j *job) obey(orders []order) {
	for _, o := range orders {
		switch o.kind {
		case orderSay:
			j.spec.Say(o.text)
		case orderKill:
			j.killAll(o.signal)
		case orderStop:
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		case orderAlarm:
			j.alarm.Reset(o.after)
		}
	}
}

// end leaves nothing behind: it is also the way out of a start that failed half way.
func (j *job) end() {
	j.killAll(syscall.SIGKILL)
	close(j.over)
	j.wg.Wait()
	j.srv.Close()
	j.alarm.Stop()
}

func (j *job) detail(format string, args ...any) {
	if j.spec.Detail != nil {
		j.spec.Detail(fmt.Sprintf(format, args...))
	}
}
