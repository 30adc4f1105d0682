package realm

import (
	"context"

	"github.com/golci/golci/realm/internal/events"
)

// Ctx is what a task gets: where it runs. It is valid until the task returns, and only for the task itself.
type Ctx struct {
	rt       *Runtime
	proc     Processor
	task     *task          // that runs; nil between tasks
	runner   *runner        // nil in an IO task
	executor *processor     // of the runner
	cascade  events.Cascade // for what its task lets begin
	holds    int            // calls of HoldProcessor
}

// Site is where an operation is called: a Runtime, or the Ctx of a task.
type Site interface {
	site() (*Runtime, *Ctx)
}

func (rt *Runtime) site() (*Runtime, *Ctx) { return rt, nil }
func (c *Ctx) site() (*Runtime, *Ctx)      { return c.rt, c }

// Runtime is the runtime that runs the task.
func (c *Ctx) Runtime() *Runtime { return c.rt }

// Processor is the processor that runs the task.
func (c *Ctx) Processor() Processor { return c.proc }

// Finish is the task's own finish event. It is owned by the rank that has spawned the task. After the end of the task
// it is an event that cannot be.
func (c *Ctx) Finish() Event {
	if c.task == nil {
		return noSuchEvent
	}
	return Event(c.task.finish)
}

// Wait blocks the task until e has triggered. The processor runs other tasks meanwhile; an IO processor has a place for
// another one. In another goroutine, or after the end of the task, it is Runtime.Wait. It takes no context:
// Runtime.Wait does, also in a task. The end of Finalize may unwind the thread of a task that waits, as by
// runtime.Goexit. Errors: a *PoisonError, for errors.Is ErrPoisoned; ErrArgument for an event that cannot be; those of
// Runtime.Wait.
func (c *Ctx) Wait(e Event) error {
	if e == NoEvent {
		return nil
	}
	if c.runner == nil || c.rt.sched.Current() != c.runner.thread.Load() || c.task == nil {
		return c.rt.waitIn(context.Background(), inCtxWait, e)
	}
	return c.runner.waitEvent(e, inCtxWait, nil)
}

// sleepIO is Runtime.sleepFor for an IO task.
func (c *Ctx) sleepIO(ctx context.Context, call callName, e Event) error {
	c.pauses()
	err := c.rt.sleepFor(ctx, call, e, c.rt.procs.io)
	c.resumes(e)
	return err
}

// SetPriority changes the priority of the task, which counts when it goes on after a wait. After the end of the task it
// has no effect.
func (c *Ctx) SetPriority(p int32) {
	if c.task != nil {
		c.task.priority = p
	}
}

// HoldProcessor makes the processor run no other task while this one waits. It ends when ReleaseProcessor has been
// called as often, or with the task. It has no meaning for IO tasks.
func (c *Ctx) HoldProcessor() { c.holds++ }

// ReleaseProcessor ends what HoldProcessor has begun. A call too many has no effect.
func (c *Ctx) ReleaseProcessor() { c.holds = max(0, c.holds-1) }

// pauses notes that the task waits, if it is watched; resumes that it goes on.
func (c *Ctx) pauses() {
	if w := c.task.watch; w != nil {
		c.rt.ev.Log.NotePause(w, c.cascade.By)
	}
}

func (c *Ctx) resumes(e Event) {
	if w := c.task.watch; w != nil {
		c.rt.ev.Log.NoteResume(w, c.cascade.By, uint64(e))
	}
}
