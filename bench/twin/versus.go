package twin

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/golci/golci/bench"
)

// turns is how often each side is timed, in turns, so that a change of the machine meets all. Medians count.
const turns = 21

// side is one way to move the bytes. Its loop calls nothing in between, so that plain ones cost what they cost.
type side struct {
	impl string
	loop func(n int) error
	ns   []float64
}

// versus measures puts or gets of size bytes by rank 0, beside what the processor takes for the same on the same
// memory.
func (r *memory) versus(name string, size int, window time.Duration) (rows []bench.Row, err error) {
	if r.peer, err = r.mem.Mapped(1); err != nil {
		return nil, err
	}
	sides := r.gets(size)
	if name == Put {
		sides = r.puts(size)
	}
	from, to := r.fill(name, size)
	n := 1
	for i := range sides { // the slowest decides how many each makes
		if err := sides[i].loop(1); err != nil { // the first access asks the peer
			return nil, err
		}
	}
	share := window / time.Duration(turns*len(sides))
	for n < 1<<24 {
		start := time.Now()
		if err := sides[0].loop(n); err != nil {
			return nil, err
		}
		if time.Since(start) >= share {
			break
		}
		n *= 2
	}
	for range turns {
		for i := range sides {
			if err := sides[i].time(n); err != nil {
				return nil, err
			}
		}
	}
	if name == Get && size == leastSize { // the plain one of this size leaves no bytes behind
		if err := sides[0].loop(1); err != nil {
			return nil, err
		}
	}
	if !bytes.Equal(from, to) {
		return nil, fmt.Errorf("%w after a %s", ErrData, name)
	}
	return rowsOf(name, size, sides), r.end()
}

// fill gives the bytes to be moved a pattern, and those that they go to another.
func (r *memory) fill(name string, size int) (from, to []byte) {
	there := r.peer[:size]
	from, to = there, r.dst[:size]
	if name == Put {
		from, to = r.src[:size], there
	}
	for i := range from {
		from[i], to[i] = byte(i*7+i>>8), 0
	}
	return from, to
}

func (s *side) time(n int) error {
	start := time.Now()
	err := s.loop(n)
	s.ns = append(s.ns, float64(time.Since(start).Nanoseconds())/float64(n))
	return err
}

func (s *side) median() float64 {
	slices.Sort(s.ns)
	return s.ns[len(s.ns)/2]
}

// rowsOf compares the sides with the last, which is the plain one.
func rowsOf(name string, size int, sides []side) []bench.Row {
	plain := &sides[len(sides)-1]
	var rows []bench.Row
	for i := range sides {
		row := row(name, size, sides[i].median(), bench.Nano)
		row.Impl = sides[i].impl
		if &sides[i] != plain {
			row.Note = fmt.Sprintf("%+.1f ns, %.2f times %s", row.Value-plain.median(), row.Value/plain.median(), plain.impl)
		}
		rows = append(rows, row)
	}
	return rows
}

func (r *memory) puts(size int) []side {
	src, there := r.src[:size], r.peer[:size]
	sides := []side{{impl: bench.Golci, loop: func(n int) error {
		for range n {
			if err := r.mem.Put(1, 0, src); err != nil {
				return err
			}
		}
		return nil
	}}}
	if size != leastSize {
		return append(sides, side{impl: "memcpy", loop: func(n int) error {
			for range n {
				copy(there, src)
			}
			return nil
		}})
	}
	return append(sides, side{impl: "golci-value", loop: func(n int) error {
		v := binary.LittleEndian.Uint64(src)
		for range n {
			if err := r.mem.PutValue(1, 0, v, leastSize); err != nil {
				return err
			}
		}
		return nil
	}}, side{impl: "store", loop: func(n int) error {
		v := binary.LittleEndian.Uint64(src)
		for range n {
			binary.LittleEndian.PutUint64(there, v)
		}
		return nil
	}})
}

func (r *memory) gets(size int) []side {
	dst, there := r.dst[:size], r.peer[:size]
	sides := []side{{impl: bench.Golci, loop: func(n int) error {
		for range n {
			if err := r.mem.Get(1, 0, dst); err != nil {
				return err
			}
		}
		return nil
	}}}
	if size != leastSize {
		return append(sides, side{impl: "memcpy", loop: func(n int) error {
			for range n {
				copy(dst, there)
			}
			return nil
		}})
	}
	return append(sides, side{impl: "golci-value", loop: func(n int) error {
		sum := uint64(0)
		for range n {
			v, err := r.mem.GetValue(1, 0, leastSize)
			if err != nil {
				return err
			}
			sum += v
		}
		runtime.KeepAlive(sum) // or the loads could be left out
		return nil
	}}, side{impl: "load", loop: func(n int) error {
		sum := uint64(0)
		for range n {
			sum += binary.LittleEndian.Uint64(there)
		}
		runtime.KeepAlive(sum) // or the loads could be left out
		return nil
	}})
}
