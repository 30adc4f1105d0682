package mpi

import (
	"bytes"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/am"
	"github.com/golci/golci/comm"
	"github.com/golci/golci/fult"
)

// blob is a layer beside MPI that takes one block of bulk data.
type blob struct {
	got  []byte
	left atomic.Int64
}

func (b *blob) arrived(_ int, _ uint64, off int64, chunk []byte, _ *fult.Worker) {
	copy(b.got[off:], chunk)
	b.left.Add(-int64(len(chunk)))
}

// Sent implements am.BulkOwner.
func (b *blob) Sent(*fult.Worker) {}

// Fail implements am.BulkOwner.
func (b *blob) Fail(error, *fult.Worker) {}

// TestLayerBesideMPI: large messages of MPI and bulk data of another layer, under every number that MPI may use, pass
// each other by and arrive where they belong.
func TestLayerBesideMPI(t *testing.T) {
	const size, blocks = 200 << 10, 8
	for _, conduit := range []string{"local", "udp"} {
		t.Run(conduit, func(t *testing.T) {
			var layers [2]blob
			attach := func(srv *comm.Server) error {
				l := &layers[srv.Rank()]
				l.got = make([]byte, size*blocks)
				l.left.Store(size * blocks)
				return srv.Endpoint().Attach(am.Layer{Name: "blob", Channel: 3, Bulk: l.arrived})
			}
			err := Run(2, func(c *Comm) error {
				l, peer := &layers[c.Rank()], 1-c.Rank()
				for i := range blocks { // numbers of operations are a generation and a slot
					data := bytes.Repeat([]byte{byte(i + 1)}, size)
					c.Proc().Server().Endpoint().PutBulk(peer, &am.Bulk{
						ID: 1<<32 | uint64(i), Channel: 3, Off: int64(i) * size, Data: data, Owner: l,
					})
				}
				for i := range blocks {
					out, in := bytes.Repeat([]byte{byte(i + 100)}, size), make([]byte, size)
					s, err := Isend(c, out, peer, i)
					if err != nil {
						return err
					}
					_, err = Recv(c, in, peer, i)
					if _, serr := s.Wait(); err != nil || serr != nil {
						return errors.Join(err, serr)
					}
					if !bytes.Equal(in, out) {
						t.Errorf("message %d has bytes of another", i)
					}
				}
				return c.Proc().core().OfRank().BlockUntil(func() bool { return l.left.Load() <= 0 })
			}, WithAttach(attach), With("GOLCI_CONDUIT", conduit))
			if err != nil {
				t.Fatal(err)
			}
			for r := range layers {
				for i := range blocks {
					if got := layers[r].got[i*size : (i+1)*size]; !bytes.Equal(got, bytes.Repeat([]byte{byte(i + 1)}, size)) {
						t.Errorf("rank %d: block %d begins with %v", r, i, got[:4])
					}
				}
			}
		})
	}
}
