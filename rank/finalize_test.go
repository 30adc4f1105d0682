package rank

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/am"
)

// TestFinalizeServesPeers: a rank in Finalize still handles what its peers send until all have met. A peer may wait for
// an answer, or for credits that this rank has borrowed.
func TestFinalizeServesPeers(t *testing.T) {
	for _, conduit := range []string{"local", "udp"} {
		t.Run(conduit, func(t *testing.T) {
			var answered atomic.Bool
			cfg := with("GOLCI_CONDUIT", conduit)
			cfg.Attach = func(r *Rank) error {
				r.Attach(Layer{Meet: func() error {
					if r.Rank() == 0 {
						return nil
					}
					time.Sleep(20 * time.Millisecond) // until rank 0 has met
					if err := r.Endpoint().RequestShort(0, 1); err != nil {
						return err
					}
					return r.BlockUntil(answered.Load)
				}})
				return errors.Join(
					r.Endpoint().Register(1, am.Spec{Name: "ask", Run: func(tok *am.Token, _ []uint64, _ []byte) {
						if err := tok.ReplyShort(2); err != nil {
							t.Error(err)
						}
					}}),
					r.Endpoint().Register(2, am.Spec{
						Name: "answer", MaxReply: am.NoReply, Run: func(*am.Token, []uint64, []byte) { answered.Store(true) },
					}),
				)
			}
			must(t, 2, cfg, func(*Rank) error { return nil })
		})
	}
}

// TestFinalizeEndsWhatBegins: when the context of Finalize ends, operations end that a layer's meeting starts just then,
// too. The meeting here goes on at the second stop, as an operation does that the first one has missed.
func TestFinalizeEndsWhatBegins(t *testing.T) {
	var stops atomic.Int32
	met := make(chan struct{})
	cfg := with()
	cfg.Attach = func(r *Rank) error {
		return r.Attach(Layer{
			Meet: func() error {
				<-met
				return ErrFinalized
			},
			Stop: func() {
				if stops.Add(1) == 2 {
					close(met)
				}
			},
		})
	}
	r, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.Finalize(over); !errors.Is(err, ErrFinalized) {
		t.Errorf("Finalize gave %v", err)
	}
}
