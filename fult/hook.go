package fult

import "github.com/golci/golci/internal/platform/invariants"

// window is a point between two steps. The scheduler is correct only if they happen in this order.
type window uint8

const (
	betweenLevels   window = iota // a signaller has set level 1, not yet level 2
	beforeParkCheck               // a signaller has set its bits, and has not looked for a sleeper
	betweenTakes                  // the worker has taken level 2, not yet level 1
	beforeSleep                   // the worker has said that it sleeps, and has not looked for work
	beforeFutex                   // it has looked and is about to block
)

// atHook calls the hook of a test. It does nothing in normal builds.
func (w *Worker) atHook(p window) {
	if invariants.Enabled && w.s.cfg.hook != nil {
		w.s.cfg.hook(p)
	}
}
