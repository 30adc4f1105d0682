package rank

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/am"
	"github.com/golci/golci/fult"
)

// mover is a layer of one rank that sends blocks of bytes to the other ranks.
type mover struct {
	r       *Rank
	first   uint8 // of its handlers
	channel uint8
	fill    byte          // of the blocks of this layer
	got     []byte        // from the rank before
	left    atomic.Int64  // bytes that have not come
	sent    atomic.Int64  // blocks that have left
	acked   atomic.Int64  // blocks that the receivers have
	threads atomic.Int64  // values made for threads
	place   int           // of what threads keep
	strange atomic.Uint64 // pieces that are another layer's
}

const moverBlock = 300 << 10

// attachMover is all that a layer needs below: one call.
func attachMover(r *Rank, name string, first, channel uint8, fill byte) (*mover, error) {
	m := &mover{r: r, first: first, channel: channel, fill: fill, got: make([]byte, moverBlock)}
	m.left.Store(moverBlock)
	ack := am.Spec{Name: "ack", MaxReply: am.NoReply, Run: func(*am.Token, []uint64, []byte) { m.acked.Add(1) }}
	var err error
	m.place, err = r.Endpoint().Progress().Keep(name, func(*fult.Thread) any { m.threads.Add(1); return m })
	return m, errors.Join(err, r.Attach(Layer{
		Endpoint: am.Layer{Name: name, First: first, Handlers: []am.Spec{ack, {}}, Channel: channel, Bulk: m.arrived},
		Unended:  func() (int, func() string) { return int(m.left.Load()), func() string { return name } },
	}))
}

func (m *mover) arrived(src int, id uint64, off int64, chunk []byte, _ *fult.Worker) {
	if id != 7 || src != (m.r.Rank()+1)%m.r.Size() {
		m.strange.Add(1)
	}
	copy(m.got[off:], chunk)
	m.left.Add(-int64(len(chunk)))
}

// Sent implements am.BulkOwner.
func (m *mover) Sent(*fult.Worker) { m.sent.Add(1) }

// Fail implements am.BulkOwner.
func (m *mover) Fail(error, *fult.Worker) { m.sent.Add(1) }

// move sends a block to the rank before, gets one from the rank after, and tells that one.
func (m *mover) move() error {
	to, from := (m.r.Rank()+m.r.Size()-1)%m.r.Size(), (m.r.Rank()+1)%m.r.Size()
	data := bytes.Repeat([]byte{m.fill ^ byte(m.r.Rank())}, moverBlock)
	m.r.Endpoint().PutBulk(to, &am.Bulk{ID: 7, Channel: m.channel, Data: data, Owner: m})
	if err := m.r.BlockUntil(func() bool { return m.left.Load() <= 0 && m.sent.Load() == 1 }); err != nil {
		return err
	}
	if want := bytes.Repeat([]byte{m.fill ^ byte(from)}, moverBlock); !bytes.Equal(m.got, want) {
		return fmt.Errorf("the layer of %q has bytes of another", m.fill)
	}
	if err := m.r.Endpoint().RequestShort(from, m.first); err != nil {
		return err
	}
	return m.r.BlockUntil(func() bool { return m.acked.Load() == 1 })
}

// TestTwoLayersMoveBulkData: two layers that know nothing of each other share each rank: handlers, bulk data under the
// same ids, and what threads keep.
func TestTwoLayersMoveBulkData(t *testing.T) {
	for name, cfg := range map[string]Config{
		"local": with(), "udp": with("GOLCI_CONDUIT", "udp"), "udp, little credit": with("GOLCI_CONDUIT", "udp", "GOLCI_LOAN", "260"),
	} {
		t.Run(name, func(t *testing.T) {
			kind, _ := fult.Config{}.Effective()
			keeps := kind == fult.Fult // threads that are goroutines do not
			var layers [3][2]*mover
			cfg.Attach = func(r *Rank) (err error) {
				a, errA := attachMover(r, "alpha", 1, 5, 'a')
				b, errB := attachMover(r, "beta", 3, 1, 'b')
				layers[r.Rank()] = [2]*mover{a, b}
				return errors.Join(errA, errB)
			}
			must(t, 3, cfg, func(r *Rank) error {
				two := layers[r.Rank()]
				errs := make(chan error, 2)
				for i, m := range two {
					if _, err := r.Go(func() {
						errs <- m.move()
						kept := r.Endpoint().Progress().Local(r.Threads().Current()).Kept
						if keeps && (kept[m.place] != any(m) || kept[two[1-i].place] != any(two[1-i])) {
							t.Errorf("a thread keeps %v", kept)
						}
					}); err != nil {
						return err
					}
				}
				return errors.Join(<-errs, <-errs)
			})
			for i, two := range layers {
				for _, m := range two {
					if m.left.Load() != 0 || m.strange.Load() != 0 || keeps == (m.threads.Load() == 0) {
						t.Errorf("rank %d: %d bytes of %q have not come, %d pieces are strange, %d threads", i, m.left.Load(), m.fill, m.strange.Load(), m.threads.Load())
					}
				}
			}
		})
	}
}

// TestLayersThatCollide: a rank with two layers that want the same does not start, and the error names both.
func TestLayersThatCollide(t *testing.T) {
	for what, second := range map[string][2]uint8{"handlers": {2, 6}, "bulk data": {9, 5}} {
		cfg := with()
		cfg.Attach = func(r *Rank) error {
			_, a := attachMover(r, "alpha", 1, 5, 'a')
			_, b := attachMover(r, "beta", second[0], second[1], 'b')
			return errors.Join(a, b)
		}
		err := job(t, 1, cfg, func(*Rank) error { return nil })
		if !errors.Is(err, am.ErrTaken) || !strings.Contains(err.Error(), `"alpha"`) || !strings.Contains(err.Error(), `"beta"`) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
