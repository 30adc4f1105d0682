package realm

import (
	"context"

	"github.com/golci/golci/am"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// Shutdown has WaitForShutdown return on all ranks once after has triggered, poisoned or not. Any rank may call it,
// also in a task. It does not block. A second call has no effect. The error is ErrArgument, or ErrClosed.
func (rt *Runtime) Shutdown(after Event) error {
	if err := rt.ev.EndedError(); err != nil {
		return err
	}
	s := &shutdown{rt: rt}
	s.Op = s
	st, _ := rt.ev.AwaitEvent(event.ID(after), &s.Waiter)
	switch st {
	case event.Unknown:
		return rt.unknown("Shutdown", after)
	case event.Triggered:
		k := rt.ev.BeginCascade(nil)
		s.Fire(nil, k)
		k.EndCascade(events.CallBudget)
	}
	return nil
}

// WaitForShutdown waits until some rank has called Shutdown, whose event has triggered, and then ends this rank as
// Finalize does. It is for ranks whose program is done and that run the tasks of others. The death of a rank does not
// end it: those that live may still call Shutdown. Errors: the cause of ctx; ErrClosed; those of Finalize.
func (rt *Runtime) WaitForShutdown(ctx context.Context) error {
	if err := rt.waitIn(ctx, inWaitForShutdown, Event(rt.down)); err != nil {
		return err
	}
	return rt.Finalize(ctx)
}

// shutdown is a call of Shutdown that waits for its event.
type shutdown struct {
	event.Waiter
	rt *Runtime
}

// Fire implements event.Op. The root of the tree of ranks has the news spread.
func (s *shutdown) Fire(_ *event.Waiter, by any) {
	s.rt.downAsked.Store(true)
	s.rt.askRoot(by.(*events.Cascade))
}

func (rt *Runtime) askRoot(k *events.Cascade) {
	root, _, _ := rt.relations()
	if root {
		rt.spreadEnd(k)
		return
	}
	rt.ev.PostMessage(rt.root(), events.HShutdown, nil)
}

// shutdownGone repeats what may be lost with a rank that has died: the request of this rank, and the news for those
// that are its children now.
func (rt *Runtime) shutdownGone(k *events.Cascade) {
	st, _ := rt.ev.LookAtEvent(rt.down)
	switch {
	case rt.ev.Stopped.Load():
	case st == event.Triggered:
		rt.tellChildren()
	case rt.downAsked.Load():
		rt.askRoot(k)
	}
}

// spreadEnd tells the children of this rank, and this rank, that the job is to end.
func (rt *Runtime) spreadEnd(k *events.Cascade) {
	if k.Trigger(rt.down, nil) != event.Pending {
		return // told before
	}
	rt.tellChildren()
}

func (rt *Runtime) tellChildren() {
	_, _, children := rt.relations()
	for _, c := range children {
		rt.ev.PostMessage(c, events.HShutdown, nil)
	}
}

// onShutdown: the parent, or to the root any rank, tells that the job is to end.
func (rt *Runtime) onShutdown(t *am.Token, _ []uint64, _ []byte) {
	k := rt.ev.BeginCascade(t.Worker())
	rt.spreadEnd(k)
	k.EndCascade(events.PollBudget)
}

// root is the first rank that is alive.
func (rt *Runtime) root() int {
	r := 0
	for r < rt.ev.Size-1 && rt.ev.Endpoint.Gone(r) {
		r++
	}
	return r
}
