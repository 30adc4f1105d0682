package am

import (
	"bytes"
	"testing"
	"time"

	"github.com/golci/golci/fult"
)

// chopped is memory that Pack gives out of two halves.
type chopped struct{ low, high []byte }

// Pack implements Packer.
func (c chopped) Pack(dst []byte, off int) {
	n := 0
	if off < len(c.low) {
		n = copy(dst, c.low[off:])
	}
	if n < len(dst) {
		copy(dst[n:], c.high[off+n-len(c.low):])
	}
}

// departures counts the Bulks that have left.
type departures int

func (n *departures) Sent(*fult.Worker)        { *n++ }
func (n *departures) Fail(error, *fult.Worker) { *n = -1000 }

// TestPackedBulk: what a Packer packs arrives under the number of its Bulk, at the right offset. So do the contiguous
// Bulks before and after it.
func TestPackedBulk(t *testing.T) {
	const channel, first, size, many = 3, 1000, 300_000, 3
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for _, v := range append(scattered(seed), variants...) {
		t.Run(v.name, func(t *testing.T) {
			es := endpoints(t, 2, v, Config{})
			got, in := 0, make([][]byte, many)
			for i := range in {
				in[i] = make([]byte, first+size)
			}
			for _, e := range es {
				err := e.Attach(Layer{Name: "packed", Channel: channel, Bulk: func(src int, id uint64, off int64, b []byte, _ *fult.Worker) {
					if src != 0 || id >= many || off < first || off+int64(len(b)) > first+size {
						t.Errorf("%d bytes at %d of number %d from rank %d", len(b), off, id, src)
						return
					}
					got += copy(in[id][off:], b)
				}})
				if err != nil {
					t.Fatal(err)
				}
			}
			data, left := fill(first+size, int(seed%100)), departures(0)
			for i := range uint64(many) {
				b := &Bulk{ID: i, Channel: channel, Off: first, Data: data[first:], Owner: &left}
				if i%2 == 0 {
					b.Data, b.From, b.Rest = nil, chopped{data[:size/2], data[size/2:]}, size
				}
				es[0].PutBulk(1, b)
			}
			eventually(t, "all bytes", func() bool {
				es[0].Poll()
				es[1].Poll()
				return got >= many*size && left == many
			})
			for i, b := range in {
				if !bytes.Equal(b[first:], data[first:]) {
					t.Errorf("number %d has come damaged", i)
				}
			}
		})
	}
}
