package ending

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/job/exit"
	"github.com/golci/golci/internal/observe/settings"
)

// Config says what an Ender ends.
type Config struct {
	Job    *boot.Job
	Wire   conduit.Conduit
	Values *settings.Set
	Settle time.Duration // how long a rank that is told of the end waits for its own program's exit code; 0: 50 ms
	// Agreed ends the process, or if it is to go on, the rank's operations: the job ends with code by rank.
	Agreed func(rank, code int)
	// TooLate does so where the rank has called Exit after Finalize.
	TooLate func(code int)
}

const exitSettle = 50 * time.Millisecond // the default of Config.Settle

// Ender drives one process's part in the end of its job, among the ranks of its world: the state machine of package
// exit over the plane of package boot, which works whatever the threads, the poller and the handlers of the rank are
// doing.
type Ender struct {
	cfg   Config
	limit time.Duration
	plane *boot.Plane   // nil for a job of one rank, and where there is no plane
	alone bool          // there should be one
	begun atomic.Bool   // the end has begun: set once, before anybody can see a consequence of it
	over  chan struct{} // closed by LetGo
	once  sync.Once
	sends sync.WaitGroup

	watching sync.WaitGroup // its one goroutine
	watch    context.Context
	unwatch  context.CancelFunc // ends watch

	mu      sync.Mutex // guards the rest
	m       *exit.Machine
	timer   *time.Timer
	ending  bool // the process is about to exit
	closed  bool // by Finalize
	suspect int  // rank that was gone at the last look, or -1: what it sent before may still be on its way
}

// New opens the plane of the end.
func New(cfg Config) (*Ender, error) {
	j := cfg.Job
	e := &Ender{cfg: cfg, limit: boot.ExitLimit(cfg.Values, j.Mates), over: make(chan struct{}), suspect: -1}
	e.watch, e.unwatch = context.WithCancel(context.Background())
	var err error
	e.m, err = exit.New(cfg.machine())
	if err != nil || j.Mates == 1 {
		return e, err
	}
	at, err := planeAddrs(j, cfg.Values)
	if err != nil {
		return e, err
	}
	e.mu.Lock() // messages wait until the plane is noted
	defer e.mu.Unlock()
	e.plane, err = j.OpenPlane(e.takeNews, at...)
	if errors.Is(err, boot.ErrNoPlane) {
		e.alone, err = true, nil
	}
	return e, err
}

// machine is the configuration of the state machine.
func (c *Config) machine() exit.Config {
	return exit.Config{
		Rank: c.Job.Rank - c.Job.First, Size: c.Job.Mates, Settle: cmp.Or(c.Settle, exitSettle),
		Limit: boot.ExitLimit(c.Values, c.Job.Mates),
	}
}

// Await returns at once, unless the end has begun; then it returns when LetGo has been called.
func (e *Ender) Await() {
	if e.begun.Load() {
		<-e.over
	}
}

// LookForEnds has the conduit told of ranks whose process ends, if it does not find that by itself. All planes are
// open.
func (e *Ender) LookForEnds() {
	s, ok := e.cfg.Wire.(conduit.Suspecter)
	if ok && e.plane != nil {
		gone := func(rank int) bool { return e.cfg.Wire.Failed(rank) != nil }
		e.watching.Go(func() { e.plane.Watch(e.watch, gone, s.Suspect) })
	}
}

// LetGo lets those go on that wait for the end of a process that does not end.
func (e *Ender) LetGo() { e.once.Do(func() { close(e.over) }) }

// Exit is the program's call. It returns when the rank's operations have ended, if the process goes on.
func (e *Ender) Exit(code int) {
	e.mu.Lock()
	switch {
	case e.ending: // the verdict has been reached
	case e.closed: // Finalize is over: nobody waits for this rank
		e.mu.Unlock()
		e.cfg.TooLate(code & 0xff)
		return
	case e.alone:
		e.ending = true
		e.mu.Unlock()
		e.enforce(exit.Verdict{Code: uint8(code), Rank: e.cfg.Job.Rank - e.cfg.Job.First},
			"this system has no way to tell the other ranks")
		return
	default:
		e.obey(e.m.Exit(time.Now(), code))
	}
	e.mu.Unlock()
	<-e.over
}

const abortTime = 200 * time.Millisecond // for ranks that take nothing; the launcher ends those

// AbortOthers tells the others to end with code, and returns then; false if the end has come in another way.
func (e *Ender) AbortOthers(code int) bool {
	e.mu.Lock()
	if e.ending {
		e.mu.Unlock()
		<-e.over
		return false
	}
	if e.closed || e.plane == nil {
		e.mu.Unlock()
		return true
	}
	e.ending = true // the caller sees to the end
	for _, a := range e.m.Abort(time.Now(), code) {
		if a.Kind == exit.Send {
			e.sendAction(a)
		}
	}
	e.began()
	e.mu.Unlock()
	e.sent(abortTime)
	return true
}

// takeNews is called by the plane.
func (e *Ender) takeNews(from int, b []byte) {
	msg, err := exit.Parse(b)
	if err != nil {
		return // sealed with the job's key, so from a program of another version; it will be missed in time
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if from -= e.cfg.Job.First; !e.ending && !e.closed && uint(from) < uint(e.cfg.Job.Mates) {
		e.obey(e.m.Take(time.Now(), from, msg))
	}
}

const probeEvery = 50 * time.Millisecond // between looks after the rank whose message is awaited

// tick is called by the timer.
func (e *Ender) tick() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ending || e.closed {
		return
	}
	out := e.m.Tick(time.Now())
	if len(out) == 0 {
		out = e.probe()
	}
	e.obey(out)
}

// probe takes a rank for dead that is gone twice in a row; in between, what it sent before is taken.
func (e *Ender) probe() []exit.Action {
	rank, ok := e.m.Waiting()
	if !ok || !e.plane.Gone(e.cfg.Job.First+rank) {
		e.suspect = -1
		return nil
	}
	if e.suspect != rank {
		e.suspect = rank
		return nil
	}
	return e.m.Died(rank)
}

// obey does what the machine wants. It is called with mu held.
func (e *Ender) obey(out []exit.Action) {
	e.began()
	for _, a := range out {
		switch a.Kind {
		case exit.Send:
			e.sendAction(a)
		case exit.Finish:
			e.ending = true
			go e.leaveProcess(a)
		case exit.GiveUp:
			e.ending = true
			go e.enforce(a.Verdict, e.missingRank(a.To))
		}
	}
	e.arm()
}

// began notes the beginning of the end, before the first message of this rank can have another one end.
func (e *Ender) began() {
	if e.m.Begun() && !e.begun.Swap(true) {
		e.unwatch()
		e.cfg.Job.Ending()
	}
}

// sendAction sends from a goroutine of its own, so that a rank that is stopped does not hold up the others.
func (e *Ender) sendAction(a exit.Action) {
	e.sends.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), e.limit)
		defer cancel()
		_ = e.plane.Send(ctx, e.cfg.Job.First+a.To, a.Msg.Append(nil))
	})
}

// sent waits until everything has been sent, or for d.
func (e *Ender) sent(d time.Duration) {
	done := make(chan struct{})
	go func() {
		e.sends.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(d):
	}
}

// arm sets the timer for the machine and for the next look at the rank it waits for.
func (e *Ender) arm() {
	at, ok := e.m.Deadline()
	if !ok || e.ending {
		return
	}
	d := time.Until(at)
	if _, waits := e.m.Waiting(); waits {
		d = min(d, probeEvery)
	}
	if e.timer == nil {
		e.timer = time.AfterFunc(d, e.tick)
		return
	}
	e.timer.Reset(d)
}

func (e *Ender) missingRank(rank int) string {
	if rank != exit.NoRank {
		return fmt.Sprintf("rank %d has not answered within %v", e.cfg.Job.First+rank, e.limit)
	}
	return fmt.Sprintf("not all ranks have answered within %v", e.limit)
}

// leaveProcess ends the process as agreed.
func (e *Ender) leaveProcess(a exit.Action) {
	v := a.Verdict
	e.sent(e.limit)
	var text string
	if v.Code != 0 && v.Rank != exit.NoRank && !a.Aborted {
		text = fmt.Sprintf("rank %d ended the job with code %d", e.cfg.Job.First+v.Rank, v.Code)
	}
	if text != "" && e.cfg.Job.First+v.Rank == e.cfg.Job.Rank && e.cfg.Job.Launcher != boot.LauncherGolci {
		fmt.Fprintln(os.Stderr, "golci:", text)
	}
	// A rank that served the others may have gone already; the code tells the launcher.
	_ = e.cfg.Job.Leave(int(v.Code), text)
	e.cfg.Agreed(e.cfg.Job.First+v.Rank, int(v.Code))
}

// enforce ends the process and asks the launcher to end the others.
func (e *Ender) enforce(v exit.Verdict, why string) {
	text := fmt.Sprintf("rank %d ends the job with code %d by force: %s", e.cfg.Job.Rank, v.Code, why)
	_ = e.cfg.Job.Abort(int(max(v.Code, 1)), text) // without a launcher there is nobody to tell
	e.cfg.Agreed(e.cfg.Job.First+v.Rank, int(max(v.Code, 1)))
}

// Unwatch says that from now on ranks may go in order.
func (e *Ender) Unwatch() { e.unwatch() }

// Close is called by Finalize, when all ranks have met for the last time.
func (e *Ender) Close() {
	e.mu.Lock()
	if e.begun.Load() {
		e.mu.Unlock()
		<-e.over // some rank has called Exit after all
		e.mu.Lock()
	}
	e.closed = true
	e.mu.Unlock()
	e.unwatch()
	e.watching.Wait()
	if e.plane != nil {
		_ = e.plane.Close() // nothing is left to be done about an error
	}
}
