package mpi

import (
	"errors"
	"fmt"
	"slices"
)

// windowRules are the cases of windows as rules, for windows of both kinds that need no shared memory.
func windowRules() []rule {
	var rules []rule
	for i, x := range slices.Concat(accessCases(), lockCases, groupCases, errorCases) {
		kind := []string{"create", "allocate"}[i%2]
		rules = append(rules, rule{x.section, x.name, 1 + i*3%8, func(c *Comm) error {
			return runCases(c, winMakers[kind], []winCase{x})
		}})
	}
	return rules
}

// inWindow is a test with a window of eight numbers at each rank.
func inWindow(f func(c *Comm, w *Win[int64]) error) func(c *Comm) error {
	return func(c *Comm) error {
		w, err := AllocateWin[int64](c, 8)
		if err != nil {
			return err
		}
		return errors.Join(f(c, w), w.Free())
	}
}

// fenced is a test between two fences; then checks what is in the memory.
func fenced(f, then func(c *Comm, w *Win[int64]) error) func(c *Comm) error {
	return inWindow(func(c *Comm, w *Win[int64]) error {
		return all(w.Fence(ModeNoPrecede), f(c, w), w.Fence(ModeNoSucceed), then(c, w))
	})
}

// windowMoreRules are more of making windows, of order, and of memory that is attached (12.2, 12.3, 12.7).
func windowMoreRules() []rule {
	rules := []rule{
		{"12.2.1", "windows of different lengths", 4, func(c *Comm) error {
			w, err := CreateWin(c, make([]int64, c.Rank()))
			if err != nil {
				return err
			}
			n := right(c) // how many elements the one behind has
			err = all(w.Fence(0), w.Put(make([]int64, n), right(c), 0), w.Fence(0))
			return errors.Join(err, is("own", len(w.Memory()), c.Rank()), w.Fence(ModeNoSucceed), w.Free())
		}},
		{"12.2.1", "an empty window at all ranks", 2, func(c *Comm) error {
			w, err := CreateWin[int64](c, nil)
			if err != nil {
				return err
			}
			return errors.Join(all(w.Fence(0), w.Put(nil, right(c), 0), w.Fence(ModeNoSucceed)), w.Free())
		}},
		{"12.2.2", "new memory is zero", 3, inWindow(func(_ *Comm, w *Win[int64]) error {
			return listIs("memory", w.Memory(), make([]int64, 8))
		})},
		{"12.2.2", "a negative size", 1, func(c *Comm) error {
			_, err := AllocateWin[int64](c, -1)
			return is("refused", err != nil, true)
		}},
		{"12.2.1", "elements that cannot travel", 1, func(c *Comm) error {
			_, err := CreateWin(c, make([]string, 1))
			return fails("CreateWin", err, ErrType)
		}},
		{"12.2.1", "elements that are structs", 2, func(c *Comm) error {
			type pair struct{ A, B int16 }
			w, err := AllocateWin[pair](c, 2)
			if err != nil {
				return err
			}
			err = all(w.Fence(0), w.Put([]pair{{1, int16(c.Rank())}}, right(c), 1), w.Fence(ModeNoSucceed))
			return errors.Join(err, is("element", w.Memory()[1], pair{1, int16(left(c))}), w.Free())
		}},
		{"12.2.5", "a freed window is of no use", 1, func(c *Comm) error {
			w, err := AllocateWin[int64](c, 1)
			if err != nil {
				return err
			}
			return errors.Join(w.Free(), fails("Fence", w.Fence(0), ErrWin), fails("Free", w.Free(), ErrWin),
				fails("Put", w.Put(unit, 0, 0), ErrWin))
		}},
		{"12.2.6", "the group of a window", 5, inWindow(func(c *Comm, w *Win[int64]) error {
			g, err := w.Group()
			return errors.Join(err, is("size", g.Size(), 5))
		})},
		{"12.2.4", "memory that is attached", 3, func(c *Comm) error {
			w, err := NewDynamicWin[int64](c)
			if err != nil {
				return err
			}
			mem := make([]int64, 4)
			at, err := w.Attach(mem)
			if err != nil {
				return err
			}
			there, err := AllgatherOne(c, at)
			err = all(err, w.Fence(0), w.Put([]int64{7, 8}, right(c), there[right(c)]+2*8), w.Fence(ModeNoSucceed),
				listIs("memory", mem, []int64{0, 0, 7, 8}), w.Detach(mem))
			return errors.Join(err, w.Free())
		}},
		{"12.2.4", "memory that was detached", 1, func(c *Comm) error {
			w, err := NewDynamicWin[int64](c)
			if err != nil {
				return err
			}
			mem := make([]int64, 4)
			_, err = w.Attach(mem)
			return errors.Join(err, w.Detach(mem), fails("Detach", w.Detach(mem), ErrRMAAttach), w.Free())
		}},
		{"12.2.4", "memory of a window that is not dynamic", 1, inWindow(func(_ *Comm, w *Win[int64]) error {
			_, err := w.Attach(make([]int64, 1))
			return fails("Attach", err, ErrRMAFlavor)
		})},
		{"12.3.1", "puts of many elements", 5, func(c *Comm) error {
			w, err := AllocateWin[int32](c, 50_000)
			if err != nil {
				return err
			}
			err = all(w.Fence(0), w.Put(upTo(int32(c.Rank()), 50_000), right(c), 0), w.Fence(ModeNoSucceed),
				listIs("memory", w.Memory(), upTo(int32(left(c)), 50_000)))
			return errors.Join(err, w.Free())
		}},
		{"12.3.2", "gets of many elements", 6, func(c *Comm) error {
			w, err := AllocateWin[int32](c, 50_000)
			if err != nil {
				return err
			}
			copy(w.Memory(), upTo(int32(c.Rank()), 50_000))
			got := make([]int32, 50_000)
			err = all(w.Fence(0), w.Get(got, right(c), 0), w.Fence(ModeNoSucceed),
				listIs("memory", got, upTo(int32(right(c)), 50_000)))
			return errors.Join(err, w.Free())
		}},
		{"12.3.4", "accumulates of many elements by all ranks", 7, func(c *Comm) error {
			w, err := AllocateWin[int32](c, 5000)
			if err != nil {
				return err
			}
			err = all(w.Fence(0), w.Accumulate(upTo(1, 5000), 0, 0, Sum), w.Fence(ModeNoSucceed))
			if c.Rank() == 0 {
				for i, v := range w.Memory() {
					err = errors.Join(err, is("sum", v, int32(7*(i+1))))
				}
			}
			return errors.Join(err, w.Free())
		}},
		{"12.7.2", "sums and reads of one element are each whole", 8, inWindow(func(c *Comm, w *Win[int64]) error {
			const each = 20
			seen := make([]int64, each)
			err := w.LockAll(0)
			for i := range seen {
				err = all(err, w.FetchAndOp(1, &seen[i], 0, 0, Sum), w.Flush(0))
			}
			err = all(err, w.UnlockAll())
			// Nobody saw what another one saw.
			every := make([]int64, each*c.Size())
			if err = all(err, Allgather(c, seen, every)); err != nil {
				return err
			}
			slices.Sort(every)
			for i, v := range every {
				if v != int64(i) {
					return fmt.Errorf("count %d was seen as number %d", v, i)
				}
			}
			return nil
		})},
		{"12.3.5", "puts with requests", 3, inWindow(func(c *Comm, w *Win[int64]) error {
			err := w.LockAll(0)
			rs := make([]Request, 4)
			for i := range rs {
				var bad error
				rs[i], bad = w.Rput([]int64{int64(10*c.Rank() + i)}, right(c), i)
				err = errors.Join(err, bad)
			}
			err = all(err, Waitall(rs, nil), w.FlushAll(), w.UnlockAll(), c.Barrier())
			for i := range rs {
				err = errors.Join(err, elementIs(i, constant(int64(10*left(c)+i)))(w, c))
			}
			return all(err, c.Barrier())
		})},
		{"12.3.5", "a get with a request has its elements at the wait", 4, inWindow(func(c *Comm, w *Win[int64]) error {
			w.Memory()[3] = int64(c.Rank())
			got := []int64{-1}
			err := all(c.Barrier(), w.LockAll(0))
			r, bad := w.Rget(got, right(c), 3)
			return all(err, bad, done(r, nil), is("element", got[0], int64(right(c))), w.UnlockAll(), c.Barrier())
		})},
		{"12.5.1", "fences keep epochs apart", 6, inWindow(func(c *Comm, w *Win[int64]) error {
			err := w.Fence(ModeNoPrecede)
			for i := range 10 {
				err = all(err, w.Put([]int64{int64(i)}, right(c), 0), w.Fence(0), is("element", w.Memory()[0], int64(i)),
					w.Fence(0))
			}
			return all(err, w.Fence(ModeNoSucceed))
		})},
		{"12.5.4", "what was flushed is there while the lock is kept", 2, inWindow(func(c *Comm, w *Win[int64]) error {
			peer := 1 - c.Rank()
			err := all(w.LockAll(0), w.Put([]int64{5}, peer, 2), w.Flush(peer))
			got := []int64{-1}
			return all(err, w.Get(got, peer, 2), w.Flush(peer), is("element", got[0], int64(5)), w.UnlockAll(), c.Barrier())
		})},
		{"12.5.4", "what was sent may be changed after a local flush", 3, inWindow(func(c *Comm, w *Win[int64]) error {
			buf := []int64{5}
			err := all(w.LockAll(0), w.Put(buf, right(c), 2), w.FlushLocal(right(c)))
			buf[0] = 6
			return all(err, w.UnlockAll(), c.Barrier(), elementIs(2, constant(5))(w, c), c.Barrier())
		})},
		{"12.2", "two windows have memory of their own", 2, inWindow(func(c *Comm, w *Win[int64]) error {
			v, err := AllocateWin[int64](c, 8)
			if err != nil {
				return err
			}
			err = all(w.Fence(0), v.Fence(0), w.Put([]int64{1}, right(c), 0), v.Put([]int64{2}, right(c), 0),
				w.Fence(ModeNoSucceed),
				v.Fence(ModeNoSucceed), is("first", w.Memory()[0], int64(1)), is("second", v.Memory()[0], int64(2)))
			return errors.Join(err, v.Free())
		})},
	}
	for n := 1; n <= 8; n++ {
		name := fmt.Sprintf("all put to all, %d ranks", n)
		rules = append(rules, rule{"12.3.1", name, n, fenced(func(c *Comm, w *Win[int64]) error {
			var err error
			for r := range c.Size() {
				err = errors.Join(err, w.Put([]int64{int64(10*r + c.Rank())}, r, c.Rank()))
			}
			return err
		}, func(c *Comm, w *Win[int64]) error {
			var err error
			for r := range c.Size() {
				err = errors.Join(err, is("element", w.Memory()[r], int64(10*c.Rank()+r)))
			}
			return err
		})})
	}
	return rules
}
