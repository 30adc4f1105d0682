package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ranks runs f on 1 to 4 ranks, each with an open file of int32.
func ranks(t *testing.T, f func(c *mpi.Comm, x *File[int32]) error) {
	t.Helper()
	for n := 1; n <= 4; n++ {
		name := filepath.Join(t.TempDir(), "data")
		err := mpi.Run(n, func(c *mpi.Comm) error {
			x, err := Open[int32](c, name, ReadWrite|Create)
			if err != nil {
				return err
			}
			return errors.Join(f(c, x), x.Close())
		})
		if err != nil {
			t.Errorf("%d ranks: %v", n, err)
		}
	}
}

// numbers is n elements that tell the rank.
func numbers(rank, n int) []int32 {
	b := make([]int32, n)
	for i := range b {
		b[i] = int32(1000*rank + i)
	}
	return b
}

func same(what string, got, want []int32) error {
	if !slices.Equal(got, want) {
		return fmt.Errorf("%s: %v, want %v", what, got, want)
	}
	return nil
}

// count checks what an access gives.
func count(what string, want int) func(n int, err error) error {
	return func(n int, err error) error {
		if n != want && err == nil {
			err = fmt.Errorf("%d elements, want %d", n, want)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	}
}

// TestBlocks (14.3): ranks write blocks in turn through views, and each reads the whole file.
func TestBlocks(t *testing.T) {
	const length, blocks = 3, 5
	ranks(t, func(c *mpi.Comm, x *File[int32]) error {
		n := c.Size()
		mine := numbers(c.Rank(), length*blocks)
		err := errors.Join(
			x.SetView(int64(c.Rank()*length), Blocks(length, n*length)),
			count("WriteAll", len(mine))(x.WriteAll(mine)),
			x.SetView(0, View{}),
		)
		all := make([]int32, n*length*blocks)
		err = errors.Join(err, count("ReadAtAll", len(all))(x.ReadAtAll(all, 0)))
		for i, v := range all {
			rank, at := i/length%n, i/length/n*length+i%length
			if v != int32(1000*rank+at) {
				return errors.Join(err, fmt.Errorf("element %d is %d", i, v))
			}
		}
		size, bad := x.Size()
		if size != int64(len(all)) {
			bad = fmt.Errorf("size %d", size)
		}
		return errors.Join(err, bad)
	})
}

// TestColumns (14.3): each rank writes a column of a matrix and reads its row.
func TestColumns(t *testing.T) {
	ranks(t, func(c *mpi.Comm, x *File[int32]) error {
		n := c.Size()
		err := errors.Join(
			x.SetView(0, Array([]int{n, n}, []int{n, 1}, []int{0, c.Rank()})),
			count("WriteAtAll", n)(x.WriteAtAll(numbers(c.Rank(), n), 0)),
			x.SetView(0, Array([]int{n, n}, []int{1, n}, []int{c.Rank(), 0})),
		)
		got, want := make([]int32, n), make([]int32, n)
		for r := range want {
			want[r] = int32(1000*r + c.Rank())
		}
		return errors.Join(err, count("ReadAtAll", n)(x.ReadAtAll(got, 0)), same("row", got, want))
	})
}

// TestOrdered (14.4.4): parts of different lengths lie in the order of the ranks.
func TestOrdered(t *testing.T) {
	ranks(t, func(c *mpi.Comm, x *File[int32]) error {
		mine := numbers(c.Rank(), c.Rank()+1)
		err := errors.Join(count("WriteOrdered", len(mine))(x.WriteOrdered(mine)),
			count("WriteOrdered", len(mine))(x.WriteOrdered(mine)))
		var want []int32
		for range 2 {
			for r := range c.Size() {
				want = append(want, numbers(r, r+1)...)
			}
		}
		at, bad := x.PositionShared()
		if at != int64(len(want)) {
			bad = errors.Join(bad, fmt.Errorf("the shared pointer is at %d, want %d", at, len(want)))
		}
		got := make([]int32, len(want))
		err = errors.Join(err, bad, c.Barrier(), count("ReadAt", len(got))(x.ReadAt(got, 0)), same("file", got, want))
		back := make([]int32, len(mine))
		return errors.Join(err, x.SeekShared(0, io.SeekStart), count("ReadOrdered", len(back))(x.ReadOrdered(back)),
			same("part", back, mine))
	})
}

// TestShared (14.4.4): each rank appends; nothing overlaps and nothing is missing.
func TestShared(t *testing.T) {
	const each = 20
	ranks(t, func(c *mpi.Comm, x *File[int32]) error {
		var err error
		for i := range each {
			err = errors.Join(err, count("WriteShared", 2)(x.WriteShared([]int32{int32(c.Rank()), int32(i)})))
		}
		err = errors.Join(err, c.Barrier())
		all := make([]int32, 2*each*c.Size())
		err = errors.Join(err, count("ReadAt", len(all))(x.ReadAt(all, 0)))
		next := make([]int32, c.Size())
		for i := 0; i < len(all); i += 2 {
			r := all[i]
			if int(r) >= len(next) || all[i+1] != next[r] {
				return errors.Join(err, fmt.Errorf("at %d: rank %d, number %d", i, r, all[i+1]))
			}
			next[r]++
		}
		return err
	})
}

// TestPointer (14.4.3): reads and writes move the pointer, and Seek does.
func TestPointer(t *testing.T) {
	ranks(t, func(c *mpi.Comm, x *File[int32]) error {
		mine := numbers(c.Rank(), 6)
		base := int64(6 * c.Rank())
		at, err := x.Seek(base, io.SeekStart)
		err = errors.Join(err, count("Write", 4)(x.Write(mine[:4])), count("Write", 2)(x.Write(mine[4:])), c.Barrier())
		back, bad := x.Seek(-3, io.SeekCurrent)
		got := make([]int32, 3)
		err = errors.Join(err, bad, count("Read", 3)(x.Read(got)), same("part", got, mine[3:]))
		if at != base || back != base+3 {
			err = errors.Join(err, fmt.Errorf("positions %d and %d", at, back))
		}
		end, bad := x.Seek(0, io.SeekEnd)
		if end != int64(6*c.Size()) {
			err = errors.Join(err, fmt.Errorf("the end is %d", end))
		}
		n, eof := x.Read(got)
		if n != 0 || !errors.Is(eof, io.EOF) {
			err = errors.Join(err, fmt.Errorf("a read at the end: %d, %w", n, errors.Join(eof, errors.New("no io.EOF"))))
		}
		_, none := x.Seek(0, 7)
		if !errors.Is(none, mpi.ErrArgument) {
			err = errors.Join(err, fmt.Errorf("whence 7: %v", none))
		}
		return errors.Join(err, bad)
	})
}

// TestWithoutWaiting (14.4.5): requests of accesses are like others.
func TestWithoutWaiting(t *testing.T) {
	ranks(t, func(c *mpi.Comm, x *File[int32]) error {
		mine := numbers(c.Rank(), 8)
		a, err := x.IwriteAt(mine[:4], int64(8*c.Rank()))
		b, bad := x.IwriteAtAll(mine[4:], int64(8*c.Rank()+4))
		if err = errors.Join(err, bad); err != nil {
			return err
		}
		err = errors.Join(mpi.Waitall([]mpi.Request{a, b}, nil), c.Barrier())
		got := make([]int32, 8)
		r, bad := x.IreadAt(got, int64(8*c.Rank()))
		if err = errors.Join(err, bad); err != nil {
			return err
		}
		_, bad = r.Wait()
		return errors.Join(err, bad, same("part", got, mine))
	})
}

// TestSizes (14.2.4, 14.2.5): a file is cut and made longer.
func TestSizes(t *testing.T) {
	ranks(t, func(c *mpi.Comm, x *File[int32]) error {
		size := func(want int64) error {
			n, err := x.Size()
			if n != want {
				err = errors.Join(err, fmt.Errorf("size %d, want %d", n, want))
			}
			return err
		}
		err := errors.Join(x.SetSize(10), size(10), x.SetSize(3), size(3), x.Preallocate(8), size(8), x.Preallocate(2),
			size(8))
		return errors.Join(err, x.Sync(), x.SetAtomicity(false))
	})
}

// TestModes (14.2.1): what a mode forbids is an error of its class, on all ranks, and the file goes on.
func TestModes(t *testing.T) {
	dir := t.TempDir()
	err := mpi.Run(2, func(c *mpi.Comm) error {
		name := filepath.Join(dir, "modes")
		_, none := Open[byte](c, name, ReadOnly)
		x, err := Open[byte](c, name, WriteOnly|Create|Exclusive)
		if err != nil {
			return err
		}
		_, noRead := x.ReadAt(make([]byte, 1), 0)
		_, wrote := x.WriteAtAll([]byte{byte('a' + c.Rank())}, int64(c.Rank()))
		err = errors.Join(err, wrote, x.Close())
		_, there := Open[byte](c, name, ReadWrite|Create|Exclusive)
		_, both := Open[byte](c, name, ReadOnly|WriteOnly)
		_, pointers := Open[string](c, name, ReadOnly)
		y, bad := Open[byte](c, name, ReadWrite|Append|DeleteOnClose, Hint("cb_nodes", "1"))
		if err = errors.Join(err, bad); err != nil {
			return err
		}
		at, bad := y.Seek(0, io.SeekCurrent)
		if at != 2 {
			err = errors.Join(err, fmt.Errorf("append begins at %d", at))
		}
		err = errors.Join(err, bad, y.Close())
		_, gone := os.Stat(name)
		for what, is := range map[string]bool{
			"there is none":      errors.Is(none, fs.ErrNotExist),
			"a read":             noRead != nil,
			"there is one":       errors.Is(there, fs.ErrExist),
			"both":               both != nil,
			"strings":            errors.Is(pointers, mpi.ErrType),
			"it was not deleted": errors.Is(gone, fs.ErrNotExist),
		} {
			if !is {
				err = errors.Join(err, errors.New(what))
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestBadViews: a part that is none is refused, and the view stays.
func TestBadViews(t *testing.T) {
	ranks(t, func(_ *mpi.Comm, x *File[int32]) error {
		for what, v := range map[string]View{
			"longer": Blocks(3, 2), "negative": Blocks(-1, 2),
			"beyond":     Array([]int{4, 4}, []int{2, 2}, []int{3, 0}),
			"dimensions": Array([]int{4, 4}, []int{2}, []int{0, 0}),
		} {
			if err := x.SetView(0, v); !errors.Is(err, mpi.ErrArgument) {
				return fmt.Errorf("%s: %v", what, err)
			}
		}
		return nil
	})
}
