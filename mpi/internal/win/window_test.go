package win

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/epoch"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/op"
)

// makers make windows of n whole numbers in each of the ways that have memory.
var makers = map[string]func(c *core.Comm, n int64) (*Window, error){
	"create": func(c *core.Comm, n int64) (*Window, error) {
		w, _, err := own(c, int(n))
		return w, err
	},
	"allocate": func(c *core.Comm, n int64) (*Window, error) { return Allocate(c, 8*n, 8) },
	"shared":   func(c *core.Comm, n int64) (*Window, error) { return AllocateShared(c, 8*n, 8) },
}

// memory is the window's memory as whole numbers.
func memory(w *Window) []int64 {
	mem := w.Memory()
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(mem))), len(mem)/8)
}

// TestFence puts to the right and gets from the left (12.5.1).
func TestFence(t *testing.T) {
	for name, make := range makers {
		t.Run(name, func(t *testing.T) {
			each(t, func(c *core.Comm) error {
				w, err := make(c, 1000)
				if err != nil {
					return err
				}
				clear(memory(w))
				right, left := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
				mine := slices.Repeat([]int64{int64(c.Rank() + 1)}, 400)
				err = first(w.Fence(0), w.Put(longs(mine), at(right, 100, 400)), w.Fence(0))
				if err != nil {
					return err
				}
				got := slices.Repeat([]int64{-1}, 402)
				err = first(expect("before", memory(w)[99], 0), expect("first", memory(w)[100], int64(left+1)),
					expect("last", memory(w)[499], int64(left+1)), expect("behind", memory(w)[500], 0),
					w.Get(longs(got), at(right, 99, 402)), w.Fence(epoch.NoSucceed))
				return first(err, expect("got", got[0], 0), expect("got", got[400], int64(c.Rank()+1)),
					expect("got", got[401], 0), w.Free())
			})
		})
	}
}

// TestLockedCounter has all ranks count at rank 0, with every kind of access (12.3.4, 12.5.3).
func TestLockedCounter(t *testing.T) {
	const rounds = 20
	for name, make := range makers {
		t.Run(name, func(t *testing.T) {
			each(t, func(c *core.Comm) error {
				w, err := make(c, 4)
				if err != nil {
					return err
				}
				clear(memory(w))
				if err := c.Barrier(); err != nil {
					return err
				}
				one, old, seen := []int64{1}, []int64{0}, int64(-1)
				for range rounds {
					err := first(w.Lock(epoch.Exclusive, 0, 0), w.Get(longs(old), at(0, 0, 1)), w.Flush(0))
					old[0]++
					if err := first(err, w.Put(longs(old), at(0, 0, 1)), w.Unlock(0)); err != nil {
						return err
					}
					err = first(w.LockAll(0), w.Accumulate(longs(one), at(0, 1, 1), op.Sum),
						w.GetAccumulate(longs(one), longs(old), at(0, 2, 1), op.Sum), w.FlushAll())
					if err != nil || old[0] <= seen {
						return fmt.Errorf("%d after %d, %v", old[0], seen, err)
					}
					seen = old[0]
					p := unsafe.Pointer(&one[0])
					err = first(w.FetchAndOp(p, unsafe.Pointer(&old[0]), long, 0, 3, op.Sum), w.UnlockAll())
					if err != nil {
						return err
					}
				}
				err = c.Barrier()
				if c.Rank() == 0 {
					for i, v := range memory(w) {
						err = first(err, expect(fmt.Sprint("number ", i), v, int64(rounds*c.Size())))
					}
				}
				return first(err, w.Free())
			})
		})
	}
}

// TestCompareAndSwap makes a lock of it.
func TestCompareAndSwap(t *testing.T) {
	each(t, func(c *core.Comm) error {
		w, mem, err := own(c, 2)
		if err != nil {
			return err
		}
		err = w.LockAll(0)
		mine, zero, old := int64(c.Rank()+1), int64(0), int64(0)
		for range 10 {
			for old = -1; old != 0 && err == nil; {
				err = first(w.CompareAndSwap(unsafe.Pointer(&mine), unsafe.Pointer(&zero), unsafe.Pointer(&old), long, 0, 0),
					w.Flush(0))
			}
			v := []int64{0}
			err = first(err, w.Get(longs(v), at(0, 1, 1)), w.Flush(0))
			v[0]++
			err = first(err, w.Put(longs(v), at(0, 1, 1)), w.Flush(0))
			err = first(err, w.CompareAndSwap(unsafe.Pointer(&zero), unsafe.Pointer(&mine), unsafe.Pointer(&old), long, 0, 0),
				w.Flush(0), expect("the lock", old, mine))
		}
		err = first(err, w.UnlockAll(), c.Barrier())
		if c.Rank() == 0 {
			err = first(err, expect("the count", mem[1], int64(10*c.Size())))
		}
		return first(err, w.Free())
	})
}

// TestPostAndStart has every rank put to all others, which say so first (12.5.2).
func TestPostAndStart(t *testing.T) {
	each(t, func(c *core.Comm) error {
		w, mem, err := own(c, c.Size())
		if err != nil {
			return err
		}
		all := w.allRanks()
		for round := range 5 {
			v := []int64{int64(100*round + c.Rank())}
			err = first(err, w.Post(all, 0), w.Start(all, 0))
			for _, r := range all {
				err = first(err, w.Put(longs(v), at(r, int64(c.Rank()), 1)))
			}
			err = first(err, w.Complete())
			for done := round%2 == 1; !done && err == nil; {
				done, err = w.Test()
			}
			if round%2 == 1 {
				err = first(err, w.Wait())
			}
			for r, v := range mem {
				err = first(err, expect("from "+fmt.Sprint(r), v, int64(100*round+r)))
			}
		}
		return first(err, w.Free())
	})
}

// TestDynamic reaches attached memory by its address (12.2.4).
func TestDynamic(t *testing.T) {
	each(t, func(c *core.Comm) error {
		w, err := NewDynamic(c)
		if err != nil {
			return err
		}
		mem := make([]int64, 100)
		base := unsafe.Pointer(&mem[0])
		err = first(w.Attach(base, 88), w.Attach(unsafe.Add(base, 88), 712)) // a put lies in both
		if e := w.Attach(unsafe.Add(base, 792), 8); !errors.Is(e, errs.RMAAttach) {
			err = first(err, fmt.Errorf("attached twice: %v", e))
		}
		tell, _, e := own(c, 1)
		if err = first(err, e); err != nil {
			return err
		}
		memory(tell)[0] = int64(uintptr(base))
		address, right := []int64{0}, (c.Rank()+1)%c.Size()
		err = first(tell.Fence(0), tell.Get(longs(address), at(right, 0, 1)), tell.Fence(0))
		v := []int64{int64(c.Rank()), 7}
		err = first(err, w.Fence(0), w.Put(longs(v), at(right, address[0]+80, 2)), w.Fence(0))
		err = first(err, expect("put", mem[10], int64((c.Rank()+c.Size()-1)%c.Size())), expect("put", mem[11], 7))
		err = first(err, w.LockAll(0), w.Put(longs(v), at(right, address[0]+792, 2)))
		if e := w.FlushAll(); !errors.Is(e, errs.RMARange) {
			err = first(err, fmt.Errorf("beyond the end: %v", e))
		}
		err = first(err, w.UnlockAll(), c.Barrier(), w.Detach(base), w.Detach(unsafe.Add(base, 88)))
		if e := w.Detach(base); !errors.Is(e, errs.RMAAttach) {
			err = first(err, fmt.Errorf("detached twice: %v", e))
		}
		return first(err, w.Free(), tell.Free())
	})
}

// TestTypes puts a column of a matrix, gets it as a row, and adds to every other element.
func TestTypes(t *testing.T) {
	each(t, func(c *core.Comm) error {
		const n = 30
		w, mem, err := own(c, n*n)
		if err != nil {
			return err
		}
		column, err := dtype.Vector(n, 1, n, long)
		if err != nil {
			return err
		}
		column.Commit()
		mine := make([]int64, n*n)
		for i := range mine {
			mine[i] = int64(i)
		}
		right := (c.Rank() + 1) % c.Size()
		from, to := longs(mine), Place{Rank: right, Disp: 3, N: 1, T: column}
		from.N, from.T = 1, column
		row, old := make([]int64, n), make([]int64, n)
		err = first(w.Fence(0), w.Put(from, to), w.Fence(0), w.Get(longs(row), to), w.Fence(0))
		for i := range n {
			err = first(err, expect("put", mem[i*n+3], int64(i*n)), expect("left", mem[i*n+4], 0),
				expect("got", row[i], int64(i*n)))
		}
		err = first(err, w.Fence(0), w.GetAccumulate(longs(row), longs(old), to, op.Sum), w.Fence(0))
		for i := range n {
			err = first(err, expect("sum", mem[i*n+3], int64(2*i*n)), expect("old", old[i], int64(i*n)))
		}
		return first(err, w.Free())
	})
}

// TestLocations accumulates pairs, which have padding.
func TestLocations(t *testing.T) {
	type pair struct {
		v float64
		i int32
	}
	each(t, func(c *core.Comm) error {
		mem := make([]pair, 300)
		w, err := Create(c, unsafe.Pointer(&mem[0]), int64(unsafe.Sizeof(mem[0]))*300, int64(unsafe.Sizeof(mem[0])))
		if err != nil {
			return err
		}
		mine, old := make([]pair, 300), make([]pair, 300)
		for i := range mine {
			mine[i] = pair{float64(c.Rank()*i + 1), int32(c.Rank())}
		}
		double := dtype.Named(dtype.DoubleInt)
		buf := func(s []pair) Buf { return Buf{Mem: unsafe.Pointer(&s[0]), N: 300, T: double} }
		to := Place{0, 0, 300, double}
		err = first(w.Fence(0), w.Accumulate(buf(mine), to, op.MaxLoc), w.Fence(0),
			w.GetAccumulate(Buf{}, buf(old), to, op.NoOp),
			w.Fence(0))
		if err != nil {
			return err
		}
		top := int32(c.Size() - 1)
		for i, p := range old {
			want := pair{float64(int(top)*i + 1), top}
			if i == 0 {
				want.i = 0
			}
			if p != want {
				return fmt.Errorf("element %d is %v, want %v", i, p, want)
			}
		}
		return w.Free()
	})
}

func TestErrors(t *testing.T) {
	ranks(t, 2, func(c *core.Comm) error {
		if _, err := Allocate(c, 8, int64(c.Rank())); !errors.Is(err, errs.Disp) {
			return fmt.Errorf("unit 0 on one rank: %v", err)
		}
		w, _, err := own(c, 4)
		if err != nil {
			return err
		}
		one := []int64{1}
		for what, x := range map[string]struct{ got, want error }{
			"no epoch":  {w.Put(longs(one), at(0, 0, 1)), errs.RMASync},
			"no lock":   {w.Unlock(0), errs.RMASync},
			"lock type": {w.Lock(7, 0, 0), errs.LockType},
			"assertion": {w.Fence(1), errs.Assert},
			"group":     {w.Post([]int{2}, 0), errs.Group},
			"attach":    {w.Attach(unsafe.Pointer(&one[0]), 8), errs.RMAFlavor},
			"lock rank": {w.Lock(epoch.Shared, 2, 0), errs.Rank},
			"null":      {w.Put(longs(one), at(epoch.ProcNull, 0, 1)), nil},
		} {
			if !errors.Is(x.got, x.want) || (x.want == nil) != (x.got == nil) {
				return fmt.Errorf("%s: %v, want %v", what, x.got, x.want)
			}
		}
		err = w.LockAll(0)
		for what, x := range map[string]struct{ got, want error }{
			"rank":      {w.Put(longs(one), at(2, 0, 1)), errs.Rank},
			"disp":      {w.Put(longs(one), at(0, -1, 1)), errs.Disp},
			"range":     {w.Put(longs(one), at(1, 4, 1)), errs.RMARange},
			"far":       {w.Get(longs(one), at(1, 1<<60, 1)), errs.RMARange},
			"count":     {w.Get(longs(one), at(1, 0, -1)), errs.Count},
			"no type":   {w.Get(Buf{Mem: unsafe.Pointer(&one[0]), N: 1}, at(1, 0, 1)), errs.Type},
			"no memory": {w.Get(Buf{N: 1, T: long}, at(1, 0, 1)), errs.Buffer},
			"operation": {w.Accumulate(longs(one), at(1, 0, 1), 99), errs.Op},
			"length":    {w.Put(longs(one), at(1, 0, 2)), errs.Truncate},
			"free":      {w.Free(), errs.RMASync},
			"last":      {w.Put(longs(one), at(1-c.Rank(), 3, 1)), nil}, // no two ranks write to one place
		} {
			if !errors.Is(x.got, x.want) || (x.want == nil) != (x.got == nil) {
				return fmt.Errorf("%s: %v, want %v", what, x.got, x.want)
			}
		}
		err = first(err, w.UnlockAll(), w.Free())
		if e := w.Fence(0); !errors.Is(e, errs.Win) {
			err = first(err, fmt.Errorf("after Free: %v", e))
		}
		return err
	})
}

func TestShared(t *testing.T) {
	each(t, func(c *core.Comm) error {
		w, err := AllocateShared(c, int64(8*(c.Rank()+1)), 8)
		if err != nil {
			return err
		}
		for i := range memory(w) {
			memory(w)[i] = int64(c.Rank())
		}
		err = c.Barrier()
		start, _, e := w.Query(epoch.ProcNull)
		err = first(err, e)
		at := uintptr(unsafe.Pointer(&start[0]))
		for r := range c.Size() {
			mem, unit, e := w.Query(r)
			if err = first(err, e, expect("unit", unit, 8), expect("length", int64(len(mem)), int64(8*(r+1)))); err != nil {
				return err
			}
			err = expect("number", *(*int64)(unsafe.Pointer(&mem[len(mem)-8])), int64(r))
			err = first(err, expect("place", int64(uintptr(unsafe.Pointer(&mem[0]))), int64(at)))
			at += uintptr(len(mem))
		}
		return first(err, c.Barrier(), w.Free())
	})
}
