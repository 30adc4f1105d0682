package realm

import (
	"fmt"

	"github.com/golci/golci/realm/internal/event"
)

// UserEvent is an event that the program triggers itself. The zero UserEvent is of no use.
type UserEvent struct {
	rt *Runtime
	e  event.ID
}

// NewUserEvent creates an event that this rank owns. It sends nothing, and neither blocks nor allocates.
func (rt *Runtime) NewUserEvent() UserEvent { return UserEvent{rt, rt.ev.NewEvent()} }

// UserEvent binds e, which a UserEvent of any rank gave, to this runtime.
func (rt *Runtime) UserEvent(e Event) UserEvent { return UserEvent{rt, event.ID(e)} }

// Event is the event, to wait for and to send.
func (u UserEvent) Event() Event { return Event(u.e) }

// Trigger triggers the event once after has triggered, on any rank. If after is poisoned, so is the event, unless
// IgnoreFaults is among the options. It does not block. What it lets begin is begun in the call, up to a bound.
// Errors: ErrTriggered, as far as this rank knows; ErrArgument for an event that cannot be. Where only the owner can
// know that, another rank, there is no error, and the event counts as poisoned here once the owner has answered.
func (u UserEvent) Trigger(after Event, opts ...Option) error {
	if u.rt == nil {
		return fmt.Errorf("realm: Trigger: %w: a UserEvent that was not created", ErrArgument)
	}
	return u.rt.ev.TriggerAfter(u.e, event.ID(after), ignoring(opts))
}

// Cancel poisons the event with err as the cause; with nil it is ErrCanceled. All that depends on the event is not
// done. It does not block. Errors: those of Trigger.
func (u UserEvent) Cancel(err error) error {
	if u.rt == nil {
		return fmt.Errorf("realm: Cancel: %w: a UserEvent that was not created", ErrArgument)
	}
	if err == nil {
		err = ErrCanceled
	}
	return u.rt.ev.TriggerNow("Cancel", u.e, u.rt.ev.FaultPoison(err))
}
