package comm

import (
	"fmt"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/progress"
)

// fetch is one Get.
type fetch struct {
	am.Bulk
	done progress.Done
	err  error // before done
}

// Get copies from offset off of the memory of peer under k to dst. Conduit.Reach must have told that this is possible.
// It waits. Errors: conduit.ErrKey if the memory is less than that, and what the conduit says of the peer.
func (s *Server) Get(peer int, dst []byte, k conduit.Key, off int64) error {
	if k.ID == 0 || !k.Holds(off, len(dst)) {
		return fmt.Errorf("comm: get of %d bytes from offset %d: %w: rank %d offers %d", len(dst), off,
			conduit.ErrKey, peer, k.Size)
	}
	if len(dst) == 0 {
		return nil
	}
	f := new(fetch)
	f.Bulk = am.Bulk{Data: dst, Key: k, Off: off, Get: true, Owner: f}
	p := s.e.Progress()
	p.Begin(&f.done)
	s.e.PutBulk(peer, &f.Bulk)
	p.Wait(&f.done)
	return f.err
}

// Sent implements am.BulkOwner.
func (f *fetch) Sent(w *fult.Worker) { f.done.Complete(w) }

// Fail implements am.BulkOwner.
func (f *fetch) Fail(err error, w *fult.Worker) {
	f.err = err
	f.done.Complete(w)
}
