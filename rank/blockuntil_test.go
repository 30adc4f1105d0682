package rank

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/internal/platform/invariants"
)

// counting registers a handler that counts, on every rank; counts are by rank.
func counting(counts []atomic.Int64) func(r *Rank) error {
	return func(r *Rank) error {
		return r.Endpoint().Register(1, am.Spec{
			Name: "count", MaxReply: am.NoReply, Run: func(*am.Token, []uint64, []byte) { counts[r.Rank()].Add(1) },
		})
	}
}

// TestBlockUntil: goroutines and threads of a rank wait at once for counts that messages bring, spinning or asleep.
func TestBlockUntil(t *testing.T) {
	const rounds, waiters = 200, 4
	for name, cfg := range map[string]Config{
		"spins": with(), "sleeps": with("GOLCI_SPIN", "0"), "dedicated": with("GOLCI_SERVER", "dedicated"),
		"udp": with("GOLCI_CONDUIT", "udp"),
	} {
		t.Run(name, func(t *testing.T) {
			counts := make([]atomic.Int64, 2)
			cfg.Attach = counting(counts)
			must(t, 2, cfg, func(r *Rank) error {
				errs := make(chan error, 2*waiters)
				wait := func() {
					for i := range rounds {
						if err := r.BlockUntil(func() bool { return counts[r.Rank()].Load() > int64(i) }); err != nil {
							errs <- err
							return
						}
					}
					errs <- nil
				}
				for range waiters {
					go wait()
					if _, err := r.Go(wait); err != nil {
						return err
					}
				}
				for i := range rounds {
					if i%50 == 0 {
						time.Sleep(time.Millisecond) // so that all have come to rest
					}
					if err := r.Endpoint().RequestShort(1-r.Rank(), 1); err != nil {
						return err
					}
				}
				var all error
				for range 2 * waiters {
					all = errors.Join(all, <-errs)
				}
				return all
			})
		})
	}
}

// TestBlockUntilEnds: it ends with the rank, and refuses to wait in a handler.
func TestBlockUntilEnds(t *testing.T) {
	why := errors.New("enough")
	var inHandler atomic.Pointer[error]
	cfg := with()
	cfg.Attach = func(r *Rank) error {
		return r.Endpoint().Register(1, am.Spec{Name: "block", MaxReply: am.NoReply, Run: func(*am.Token, []uint64, []byte) {
			err := r.BlockUntil(func() bool { return false })
			inHandler.Store(&err)
		}})
	}
	err := job(t, 2, cfg, func(r *Rank) error {
		if r.Rank() == 0 {
			if err := r.Endpoint().RequestShort(1, 1); err != nil {
				return err
			}
			for inHandler.Load() == nil {
				runtime.Gosched()
			}
			return why
		}
		if err := r.BlockUntil(func() bool { return false }); !errors.Is(err, ErrAborted) || !errors.Is(err, why) {
			t.Errorf("it ended with %v", err)
		}
		return nil
	})
	if !errors.Is(err, why) {
		t.Errorf("the job ended with %v", err)
	}
	if e := inHandler.Load(); e == nil || !errors.Is(*e, am.ErrContext) {
		t.Errorf("in a handler: %v", e)
	}
}

// TestBlockUntilAllocatesNothing once it has been called.
func TestBlockUntilAllocatesNothing(t *testing.T) {
	if invariants.Race {
		t.Skip("the race detector allocates")
	}
	counts := make([]atomic.Int64, 1)
	cfg := with()
	cfg.Attach = counting(counts)
	must(t, 1, cfg, func(r *Rank) error {
		want := int64(0)
		once := func() {
			want++
			if err := r.Endpoint().RequestShort(0, 1); err != nil {
				t.Error(err)
			}
			if err := r.BlockUntil(func() bool { return counts[0].Load() == want }); err != nil {
				t.Error(err)
			}
		}
		once()
		if n := testing.AllocsPerRun(100, once); n != 0 {
			t.Errorf("%v allocations", n)
		}
		return nil
	})
}

// TestBlockUntilSeesADeath: a condition may ask whether a peer has failed.
func TestBlockUntilSeesADeath(t *testing.T) {
	team, err := Local(2, with("GOLCI_SPIN", "0", "GOLCI_CONDUIT", "local"))
	if err != nil {
		t.Fatal(err)
	}
	r := team.Ranks()[0]
	ended := make(chan error, 1)
	go func() { ended <- r.BlockUntil(func() bool { return r.Endpoint().PeerFailed(1) != nil }) }()
	for r.untils.n.Load() == 0 {
		runtime.Gosched()
	}
	if err := team.Ranks()[1].wire.Close(); err != nil {
		t.Error(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Error("the call does not end")
	}
	if err := team.Close(); err != nil {
		t.Error(err)
	}
}
