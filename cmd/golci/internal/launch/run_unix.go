//go:build unix

package launch

import (
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/golci/golci/internal/boot"
	"github.com/golci/golci/internal/boot/pmi"
	"github.com/golci/golci/internal/boot/serve"
)

// team is where the ranks of a job run: this machine, or several.
type team interface {
	// gather prepares the machines and returns how many ranks the job has, and the place of each.
	gather() (places, error)
	// start starts all ranks.
	start(j *job) error
	// kill sends sig to the group of every living rank.
	kill(sig syscall.Signal)
	// pause is called before this process is stopped.
	pause()
	// end leaves nothing behind. The ranks' ends are not reported any more.
	end()
}

// places says where the ranks of a job are.
type places struct {
	size  int
	nodes []int                 // ranks of each machine, in the order of the ranks
	name  func(rank int) string // "rank 3", with its machine if there are several
}

// job is a running job. Only the goroutine of Run touches it, except where a field says otherwise.
type job struct {
	spec   *Spec
	team   team
	policy *policy
	srv    *serve.Server // safe for concurrent use
	places places
	alarm  *time.Timer
	out    *shared
	err    *shared
	key    []byte

	heard  []chan struct{} // one a rank, closed by the server when it has taken everything the rank has sent
	exits  chan ended      // ranks whose processes have ended; each has a place in the buffer
	fails  *notebook       // from the PMI server
	losses chan loss       // machines that have gone; each has a place in the buffer
	over   chan struct{}   // closed when the job has come to its end
	wg     sync.WaitGroup  // goroutines that tell the server of ranks that have ended
}

// ended is the end of a rank's process.
type ended struct {
	rank int
	status
}

// loss is the end of a machine, as far as the job is concerned.
type loss struct {
	text  string
	code  int   // at least 1
	ranks []int // those that were there
}

// Run runs the job s to its end and returns its exit code. That is the greatest of the ranks' codes, or 128 and the
// number of the signal that ended a rank. The error says that the job could not be started; nothing is left of it then.
// Run blocks, and keeps its OS thread to itself. Where the kernel can, it kills the ranks when that thread ends.
func Run(s *Spec) (code int, err error) {
	if err := s.check(); err != nil {
		return 2, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	j := &job{
		spec: s, key: boot.NewKey(), alarm: time.NewTimer(time.Hour), out: &shared{w: s.Stdout}, err: &shared{w: s.Stderr},
		fails: newNotebook(), losses: make(chan loss, len(s.Hosts)), over: make(chan struct{}),
	}
	j.alarm.Stop()
	j.team = &alone{j: j}
	if len(s.Hosts) > 0 {
		j.team = newFleet(j)
	}
	defer j.end()
	if j.places, err = j.team.gather(); err != nil {
		return codeOf(err), err
	}
	if err := j.serve(); err != nil {
		return 2, err
	}
	if err := j.team.start(j); err != nil {
		return codeOf(err), err
	}
	j.watch()
	return j.policy.code, nil
}

// serve makes the PMI server, and all else that depends on the number of ranks.
func (j *job) serve() (err error) {
	n := j.places.size
	j.policy = newPolicy(n, j.spec.Grace, j.spec.Limit(n))
	j.policy.name = j.places.name
	j.exits = make(chan ended, n)
	for range n {
		j.heard = append(j.heard, make(chan struct{}))
	}
	j.srv, err = serve.New(pmi.Config{
		Size: n, KVSName: "golci-" + boot.IDFromKey(j.key),
		Preset: map[string]string{
			pmi.KeySecret:  hex.EncodeToString(j.key),
			pmi.KeyMapping: pmi.FormatMapping(j.places.nodes),
		},
		Failing: j.failed, // not serve.Hooks.Fail, which may come after the end of a rank that was told
	}, serve.Hooks{Leave: j.leaves, EOF: func(rank int) { close(j.heard[rank]) }})
	return err
}

func (j *job) failed(rank, code int, text string) {
	j.report(failure{rank: rank, code: code, text: text})
}

func (j *job) leaves(rank, code int, text string) {
	j.report(failure{rank: rank, code: code, text: text, agreed: true})
}

// report is called by the server's goroutines, which may hold its lock. Their texts begin with the rank, but do not
// know its machine.
func (j *job) report(f failure) {
	if rest, ok := strings.CutPrefix(f.text, fmt.Sprintf("rank %d ", f.rank)); ok {
		f.text = j.places.name(f.rank) + " " + rest
	}
	j.fails.add(f)
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
		case e := <-j.exits:
			j.heed() // what has been noted by now may be why the rank has ended
			j.obey(j.policy.exited(e.rank, j.judged(e)))
			j.goneLater(e.rank)
		case l := <-j.losses:
			j.obey(j.policy.lost(l.text, l.code, l.ranks))
			j.goneLater(l.ranks...)
		case <-j.fails.news:
			j.heed()
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

// judged adds the server's knowledge to the end of a rank.
func (j *job) judged(e ended) status {
	e.joined, e.left = j.srv.Joined(e.rank), j.srv.Finalized(e.rank)
	return e.status
}

// heed takes the server's notes.
func (j *job) heed() {
	for _, f := range j.fails.take() {
		j.obey(j.heeded(f))
	}
}

func (j *job) heeded(f failure) []order {
	if f.agreed {
		return j.policy.leaves(f.rank, f.text)
	}
	return j.policy.failed(f.rank, f.code, f.text)
}

// goneLater tells the server that ranks have ended. It uses another goroutine, because the server then writes to other
// ranks, which may not read.
func (j *job) goneLater(ranks ...int) {
	j.wg.Go(func() {
		for _, r := range ranks {
			j.srv.Gone(r)
		}
	})
}

func (j *job) obey(orders []order) {
	for _, o := range orders {
		switch o.kind {
		case orderSay:
			j.spec.Say(o.text)
		case orderKill:
			j.team.kill(o.signal)
		case orderStop:
			j.team.pause()
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		case orderAlarm:
			j.alarm.Reset(o.after)
		}
	}
}

// end leaves nothing behind: it is also the way out of a start that failed half way.
func (j *job) end() {
	close(j.over)
	j.team.end()
	j.wg.Wait()
	if j.srv != nil {
		j.srv.Close()
	}
	j.alarm.Stop()
}

func (j *job) detail(format string, args ...any) {
	if j.spec.Detail != nil {
		j.spec.Detail(fmt.Sprintf(format, args...))
	}
}

// sink is the destination of a rank's output. It is the launcher's own stream, unless the lines are to be marked, or
// the stream is not a file.
func (j *job) sink(rank, stream int) sink {
	to := j.out
	if stream == 2 {
		to = j.err
	}
	if j.spec.Prefix {
		p := &prefixer{out: to, prefix: fmt.Sprintf("[%d] ", rank)}
		return sink{to: p, done: p.flush}
	}
	if f, ok := to.w.(*os.File); ok {
		return sink{file: f, to: to}
	}
	return sink{to: to}
}
