package twin

import (
	"encoding/binary"
	"fmt"

	"github.com/golci/golci/bench"
)

const (
	counter = 1
	trips   = 1000      // of the pass that chooses how many the timed one makes
	last    = 1<<64 - 1 // in place of a number: no answer is wanted
)

// notify is a ping-pong of puts of size bytes, of which the first 8 are a number.
func (r *memory) notify(c Config, size int) ([]bench.Row, error) {
	took, n, err := c.timed(trips, func(n int) error { return r.pingPong(size, n) })
	if err != nil {
		return nil, err
	}
	value := took.Seconds() * 1e6 / float64(2*n)
	return []bench.Row{row(Notify, size, value, bench.Micro)}, r.put(1, size, last)
}

func (r *memory) pingPong(size, n int) error {
	for range n {
		r.seq++
		if err := r.put(1, size, r.seq); err != nil {
			return err
		}
		if err := r.mem.WaitCounter(counter, r.seq, 1); err != nil {
			return err
		}
		if got := r.number(); got != r.seq {
			return fmt.Errorf("%w: put %d where %d was due", ErrData, got, r.seq)
		}
	}
	return nil
}

func (r *memory) put(peer, size int, number uint64) error {
	binary.LittleEndian.PutUint64(r.src, number)
	return r.mem.PutNotify(peer, 0, r.src[:size], counter, 1)
}

func (r *memory) number() uint64 { return binary.LittleEndian.Uint64(r.mem.Segment()) }

// echo answers pingPong until the last.
func (r *memory) echo(size int) error {
	for {
		r.seq++
		if err := r.mem.WaitCounter(counter, r.seq, 0); err != nil {
			return err
		}
		got := r.number()
		if got == last {
			return nil
		}
		if r.seen++; got != r.seen {
			return fmt.Errorf("%w: put %d where %d was due", ErrData, got, r.seen)
		}
		if err := r.put(0, size, got); err != nil {
			return err
		}
	}
}
