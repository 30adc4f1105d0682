package rank

import (
	"errors"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/job/boot"
)

// foretell has the launcher told of the first peer that has died, before the program can learn of it. So the launcher
// tells the exit code of this rank from that of the cause. An error means that there is no launcher any more.
func (r *Rank) foretell() {
	f, ok := r.wire.(conduit.Foreteller)
	if !ok || !r.tells() {
		return
	}
	f.Foretell(func(peer int, why error) { // under a lock of the conduit
		if !errors.Is(why, conduit.ErrPeerClosed) { // which leaves in order, and is no cause of anything
			r.Follows(peer)
		}
	})
}

func (r *Rank) tells() bool { return r.owner && r.job.Launcher == boot.LauncherGolci }

// Follows tells the launcher that this rank may end because of peer, which has died, or has said that another one has.
// Only the first call does something. A layer calls it before it gives the program an error that came in a message. It
// does not block or switch threads.
func (r *Rank) Follows(peer int) {
	if r.tells() && !r.final.Load() && !r.blamed.Swap(true) {
		_ = r.job.Follows(peer)
	}
}
