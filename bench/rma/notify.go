package rma

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/golci/golci/bench"
)

const (
	counter = 1
	trips   = 1000      // of the pass that chooses how many the timed one makes
	last    = 1<<64 - 1 // in place of a number: no answer is wanted
)

// notify has rank 0 put size bytes, of which the first 8 are a number, and wait for as many back.
func (r *end) notify(size int, window time.Duration) ([]bench.Row, error) {
	took, err := r.pingPong(size, trips)
	if err != nil {
		return nil, err
	}
	n := max(trips, int(min(1e9, float64(trips)*float64(window)/float64(max(1, took)))))
	if took, err = r.pingPong(size, n); err != nil {
		return nil, err
	}
	return []bench.Row{{
		Bench: Notify, Impl: bench.Golci, Value: took.Seconds() * 1e6 / float64(2*n), Unit: bench.Micro,
	}}, r.put(1, size, last)
}

func (r *end) pingPong(size, n int) (time.Duration, error) {
	start := time.Now()
	for range n {
		r.seq++
		if err := r.put(1, size, r.seq); err != nil {
			return 0, err
		}
		if err := r.mem.WaitCounter(counter, r.seq, 1); err != nil {
			return 0, err
		}
		if got := r.number(); got != r.seq {
			return 0, fmt.Errorf("%w: put %d where %d was due", ErrData, got, r.seq)
		}
	}
	return time.Since(start), nil
}

func (r *end) put(peer, size int, number uint64) error {
	binary.LittleEndian.PutUint64(r.src, number)
	return r.mem.PutNotify(peer, 0, r.src[:size], counter, 1)
}

func (r *end) number() uint64 { return binary.LittleEndian.Uint64(r.mem.Segment()) }

// echo answers pingPong until the last.
func (r *end) echo(size int) error {
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
