package realm

import (
	"strings"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/realm/internal/event"
)

// callName is an exported function that waits for an event in its caller.
type callName uint8

const (
	inWait callName = iota
	inCtxWait
	inWaitForShutdown
	inDeadlocks
	inProcessors
	inMemories
	inAffinity
	inHost
)

// String is the name in reports.
func (c callName) String() string {
	return [...]string{
		"Runtime.Wait", "Ctx.Wait", "Runtime.WaitForShutdown", "Runtime.Deadlocks", "Runtime.Processors",
		"Runtime.Memories", "Runtime.Affinity", "Runtime.Host",
	}[c]
}

// short is the name in errors.
func (c callName) short() string {
	name := c.String()
	return name[strings.LastIndexByte(name, '.')+1:]
}

// waitingCall is what waits for an event in a call: a sleeper, or the runner of a task.
type waitingCall interface {
	event.Op
	state() *callState
	caller() *fult.Thread // nil for a goroutine
	// release lets the call return: its waiter waits no more. w is the worker that calls, or nil.
	releaseWaiter(w *fult.Worker)
}

// callState is what such a call has beside its waiter. It belongs to the call, and while its waiter is in a list to the
// lock of that list.
type callState struct {
	call  callName
	ended error // why it has been ended from outside; nil while it waits, and if its event has triggered
}

func (s *callState) state() *callState { return s }

// callOutcome is what a call returns that has waited for e. It is called once for each wait.
func (s *callState) callOutcome(rt *Runtime, e Event, why *event.Poison) error {
	if err := s.ended; err != nil {
		s.ended = nil
		return rt.ev.CallErrorf(s.call.short(), "%v: %w", e, err)
	}
	return poisonError(e, why)
}
