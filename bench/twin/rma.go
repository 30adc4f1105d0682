package twin

import (
	"context"
	"fmt"
	"slices"

	"github.com/golci/golci/am/rma"
	"github.com/golci/golci/bench"
)

// memory is one of the two ranks with its registered memory.
type memory struct {
	*pair
	mem  *rma.Memory
	peer []byte // on rank 0: the other rank's memory, as the processor sees it
	src  []byte // of this rank, as long as the largest size
	dst  []byte
	seq  uint64 // puts with notification that have come here, or are waited for
	seen uint64 // on rank 1: the number that the last of them but the ends carried
}

func (p *pair) openMemory(most int) (*memory, error) {
	mem, err := rma.New(p.on.Endpoint(), rma.Config{SegmentSize: int64(most)})
	return &memory{pair: p, mem: mem, src: make([]byte, most), dst: make([]byte, most)}, err
}

// memory measures remote memory. It gives one row for each side that is compared.
func (p *pair) memory(ctx context.Context, c Config) error {
	r, err := p.openMemory(slices.Max(c.Sizes))
	if err != nil {
		return err
	}
	defer r.mem.Close()
	for _, size := range c.Sizes {
		lead := func() ([]bench.Row, error) { return r.versus(c.Bench, size, c.Window) }
		follow := func() error { return p.follow(p.on.Endpoint().Err) }
		if c.Bench == Notify {
			lead = func() ([]bench.Row, error) { return r.notify(c, size) }
			follow = func() error { return r.echo(size) }
		}
		if err := p.measure(ctx, lead, follow); err != nil {
			return fmt.Errorf("%d bytes: %w", size, err)
		}
	}
	return nil
}
