package progress

import (
	"time"

	"github.com/golci/golci/fult"
)

// Poller gives the engine's source to a scheduler's workers.
func (e *Engine) Poller() fult.Poller { return poller{e} }

type poller struct{ e *Engine }

func (p poller) Poll(w *fult.Worker) int {
	if p.e.dedicated {
		return 0
	}
	return max(0, p.e.src.Poll(w))
}

func (p poller) Sleep(d time.Duration, ready func() bool) bool {
	return !p.e.dedicated && p.e.src.Sleep(d, ready)
}

func (p poller) Wake() { p.e.src.Wake() }
