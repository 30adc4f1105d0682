//go:build unix

package launch

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/job/boot/serve"
)

// Team is where the ranks of a job run: this machine, or several. The goroutine of Run calls it, on one OS thread.
type Team interface {
	// Gather prepares the machines for the ranks of j, and says where they will be.
	Gather(j *Job) (Places, error)
	// Start starts all ranks.
	Start() error
	// Kill sends sig to the group of every living rank.
	Kill(sig syscall.Signal)
	// Pause is called before this process is stopped.
	Pause()
	// End leaves nothing behind. It is called once after Gather, whatever has failed since. What is reported to the job
	// from then on is lost.
	End()
}

// Places says where the ranks of a job are.
type Places struct {
	Nodes []int                 // ranks of each machine, in the order of the ranks
	Name  func(rank int) string // "rank 3", with its machine if there are several
}

// Job is a running job. Only the goroutine of Run touches its fields, except where one says otherwise. Any goroutine may
// call its exported methods, those that name a rank from Start on.
type Job struct {
	spec   *Spec
	team   Team
	policy *policy
	places Places
	alarm  *time.Timer
	out    *shared
	err    *shared
	key    []byte

	mu     sync.Mutex // guards worlds, which only the goroutine of Run changes; nothing is locked under it
	worlds []*world
	names  serve.Names // what ranks have published
	spawns spawns

	drained []chan struct{} // one a rank, closed by the server when it has taken everything the rank has sent
	exits   chan ended      // ranks whose processes have ended; each has a place in the buffer
	fails   *failureLog     // from the PMI server
	losses  chan loss       // machines that have gone
	calls   chan func()     // of the servers, for the goroutine of Run
	over    chan struct{}   // closed when the job has come to its end
	wg      sync.WaitGroup  // goroutines that tell the server of ranks that have ended
}

type ended struct {
	rank int
	Status
}

// loss is the end of a machine, as far as the job is concerned.
type loss struct {
	text  string
	code  int   // at least 1
	ranks []int // those that were there
}

// Run runs the job s to its end and returns its exit code. That is the greatest of the ranks' codes, or 128 and the
// number of the signal that ended a rank. A nil team means this machine. The error says that the job could not be
// started; nothing is left of it then. Run blocks, and keeps its OS thread to itself. Where the kernel can, it kills the
// ranks when that thread ends.
func Run(s *Spec, team Team) (code int, err error) {
	least := 0
	if team == nil {
		team, least = &localTeam{}, 1
	}
	if err := s.checkSpec(least); err != nil {
		return 2, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	j := &Job{
		spec: s, team: team, key: boot.NewKey(), alarm: time.NewTimer(time.Hour), out: &shared{w: s.Stdout},
		err: &shared{w: s.Stderr}, fails: newFailureLog(), losses: make(chan loss), over: make(chan struct{}),
		calls: make(chan func()),
	}
	j.alarm.Stop()
	defer j.endJob()
	if j.places, err = team.Gather(j); err != nil {
		return codeOf(err), err
	}
	if err := j.makeServer(); err != nil {
		return 2, err
	}
	if err := team.Start(); err != nil {
		return codeOf(err), err
	}
	j.watchRanks()
	return j.policy.code, nil
}

// makeServer makes the PMI server, and all else that depends on the number of ranks.
func (j *Job) makeServer() (err error) {
	n := 0
	for _, ranks := range j.places.Nodes {
		n += ranks
	}
	j.policy = newPolicy(n, j.spec.Grace, j.spec.Limit(n))
	j.policy.name, j.policy.survive = j.rankName, j.spec.Survive
	room := max(n, j.spec.Room)
	if _, ok := j.team.(starter); room > n && !ok {
		return errors.New("-universe needs all ranks on this machine")
	}
	j.exits = make(chan ended, room)
	for range room {
		j.drained = append(j.drained, make(chan struct{}))
	}
	j.spawns.initSpawns(n, room)
	_, err = j.addWorld(&world{n: n, nodes: j.places.Nodes, apps: appsOf(j.spec.Commands), asker: -1})
	return err
}

// reportFailure is called by a server's goroutines, perhaps under its lock. Their texts name the rank by number in its
// world, not its machine.
func (j *Job) reportFailure(number int, f failure) {
	if rest, ok := strings.CutPrefix(f.text, fmt.Sprintf("rank %d ", number)); ok {
		f.text = j.rankName(f.rank) + " " + rest
	}
	j.fails.addFailure(f)
}

func (j *Job) watchRanks() {
	var timeout <-chan time.Time
	if j.spec.Timeout > 0 {
		t := time.NewTimer(j.spec.Timeout)
		defer t.Stop()
		timeout = t.C
	}
	for !j.policy.isDone() {
		select {
		case e := <-j.exits:
			j.onFailures() // what has been noted by now may be why the rank has ended
			j.rankExited(e.rank, j.judgeEnd(e))
			j.goneLater(e.rank)
		case l := <-j.losses:
			j.obeyOrders(j.policy.machineLost(l.text, l.code, l.ranks))
			j.goneLater(l.ranks...)
		case <-j.fails.news:
			j.onFailures()
		case f := <-j.calls:
			f()
		case sig := <-j.spec.Signals:
			if s, ok := sig.(syscall.Signal); ok {
				j.obeyOrders(j.policy.signalArrived(s))
			}
		case <-j.alarm.C:
			j.obeyOrders(j.policy.alarmRang())
		case <-timeout:
			j.obeyOrders(j.policy.timedOut(j.spec.Timeout))
		}
	}
}

func (j *Job) judgeEnd(e ended) Status {
	w := j.worldOf(e.rank)
	e.joined, e.left = w.srv.Joined(e.rank-w.first), w.srv.Finalized(e.rank-w.first)
	return e.Status
}

func (j *Job) onFailures() {
	for _, f := range j.fails.takeFailures() {
		if f.kind != failFollows && j.spawns.isStarting(f.rank) {
			j.spawnFailed(f.text)
			continue
		}
		j.obeyOrders(j.onFailure(f))
	}
}

func (j *Job) onFailure(f failure) []order {
	switch f.kind {
	case failAgreed:
		return j.policy.rankLeaves(f.rank, f.text)
	case failFollows:
		return j.policy.rankFollows(f.rank, f.code)
	}
	return j.policy.rankFailed(f.rank, f.code, f.text, f.kind == failAbort)
}

// goneLater tells the server that ranks have ended: on a goroutine, as the server then writes to ranks that may not
// read.
func (j *Job) goneLater(ranks ...int) {
	j.wg.Go(func() {
		for _, r := range ranks {
			w := j.worldOf(r)
			w.srv.Gone(r - w.first)
		}
	})
}

func (j *Job) obeyOrders(orders []order) {
	for _, o := range orders {
		switch o.kind {
		case orderSay:
			j.spec.Say(o.text)
		case orderKill:
			j.team.Kill(o.signal)
		case orderStop:
			j.team.Pause()
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		case orderAlarm:
			j.alarm.Reset(o.after)
		}
	}
}

// endJob leaves nothing behind: it is also the way out of a start that failed half way.
func (j *Job) endJob() {
	close(j.over)
	j.team.End()
	j.wg.Wait()
	for _, w := range j.worlds {
		w.srv.Close()
	}
	j.alarm.Stop()
}
