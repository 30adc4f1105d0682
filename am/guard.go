package am

import (
	"errors"
	"fmt"

	"github.com/golci/golci/internal/platform/arch"
)

// ErrContext means that a call was made where it is not allowed: in a handler, or with a handler-safe lock held.
var ErrContext = errors.New("am: call not allowed here")

// Call is what a caller is about to do, for a Guard.
type Call uint8

// Calls.
const (
	CallRequest Call = iota // a request of any kind, by any public method that may block
	CallReply               // Token.Reply…
	CallPoll                // Endpoint.Poll
	CallWait                // anything else that blocks; layers above ask through Allow
)

// String names the call.
func (c Call) String() string {
	return [...]string{"request", "reply", "poll", "wait"}[min(c, CallWait)]
}

// Guard watches for calls at the wrong time; handler-safe locks do. Its methods run on the goroutine concerned.
type Guard interface {
	Leave() error       // right after a handler has returned; an error is a fault
	Allow(c Call) error // before the call has any effect; an error refuses it
}

// SetGuard sets the guard. Call it before traffic.
func (e *Endpoint) SetGuard(g Guard) { e.guard = g }

// Allow reports whether the caller may do c here: ErrContext in a handler, which may only reply, or what the guard
// says. Layers above that block, or send with Open, ask it.
func (e *Endpoint) Allow(c Call) error {
	if c != CallReply && e.InHandler() {
		return fmt.Errorf("%w: rank %d: %v in a handler", ErrContext, e.rank, c)
	}
	if e.guard != nil {
		return e.guard.Allow(c)
	}
	return nil
}

// Watched reports whether Allow has anything to look at. It is cheap enough for every call.
func (e *Endpoint) Watched() bool { return e.inside.Load() != 0 || e.guard != nil }

// InHandler reports whether the caller runs inside a poll of this endpoint, where nothing may block.
func (e *Endpoint) InHandler() bool {
	in := e.inside.Load()
	return in != 0 && in == uint64(arch.G())
}

// enterHandlers and leave bracket the handlers of a poll; the poller calls them.
func (e *Endpoint) enterHandlers() { arch.StoreRel64(&e.inside, uint64(arch.G())) }
func (e *Endpoint) leaveHandlers() { arch.StoreRel64(&e.inside, 0) }

// runHandler runs a handler.
func (e *Endpoint) runHandler(spec *Spec, t *Token, args []uint64, payload []byte) {
	if e.guard == nil {
		spec.Run(t, args, payload)
		return
	}
	e.runGuarded(spec, t, args, payload)
}

func (e *Endpoint) runGuarded(spec *Spec, t *Token, args []uint64, payload []byte) {
	spec.Run(t, args, payload)
	if err := e.guard.Leave(); err != nil {
		e.Fault(fmt.Errorf("am: rank %d: handler %q: %w", e.rank, spec.Name, err))
	}
}
