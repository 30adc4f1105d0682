package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/golci/golci/mpi"
)

// form is one of the calls that read or write.
type form struct {
	name    string
	pointer string // which one the call uses: "", own, shared
	call    func(x *File[int32], b []int32, off int64) error
}

// waits is a call that waits, without an offset, and starts one that does not wait.
func waits(f func(x *File[int32], b []int32) (int, error)) func(*File[int32], []int32, int64) error {
	return func(x *File[int32], b []int32, _ int64) error { return count("call", len(b))(f(x, b)) }
}

func starts(f func(x *File[int32], b []int32) (mpi.Request, error)) func(*File[int32], []int32, int64) error {
	return startsAt(func(x *File[int32], b []int32, _ int64) (mpi.Request, error) { return f(x, b) })
}

// waitsAt and startsAt are the same for calls with an offset.
func waitsAt(f func(x *File[int32], b []int32, off int64) (int, error)) func(*File[int32], []int32, int64) error {
	return func(x *File[int32], b []int32, off int64) error { return count("call", len(b))(f(x, b, off)) }
}

func startsAt(f func(x *File[int32], b []int32, off int64) (mpi.Request, error),
) func(*File[int32], []int32, int64) error {
	return func(x *File[int32], b []int32, off int64) error {
		q, err := f(x, b, off)
		if err != nil {
			return err
		}
		_, err = q.Wait()
		return err
	}
}

type ints = File[int32]

var writes = []form{
	{"WriteAt", "", waitsAt((*ints).WriteAt)},
	{"IwriteAt", "", startsAt((*ints).IwriteAt)},
	{"WriteAtAll", "", waitsAt((*ints).WriteAtAll)},
	{"IwriteAtAll", "", startsAt((*ints).IwriteAtAll)},
	{"Write", "own", waits((*ints).Write)},
	{"Iwrite", "own", starts((*ints).Iwrite)},
	{"WriteAll", "own", waits((*ints).WriteAll)},
	{"IwriteAll", "own", starts((*ints).IwriteAll)},
	{"WriteShared", "shared", waits((*ints).WriteShared)},
	{"IwriteShared", "shared", starts((*ints).IwriteShared)},
	{"WriteOrdered", "shared", waits((*ints).WriteOrdered)},
}

var reads = []form{
	{"ReadAt", "", waitsAt((*ints).ReadAt)},
	{"IreadAt", "", startsAt((*ints).IreadAt)},
	{"ReadAtAll", "", waitsAt((*ints).ReadAtAll)},
	{"IreadAtAll", "", startsAt((*ints).IreadAtAll)},
	{"Read", "own", waits((*ints).Read)},
	{"Iread", "own", starts((*ints).Iread)},
	{"ReadAll", "own", waits((*ints).ReadAll)},
	{"IreadAll", "own", starts((*ints).IreadAll)},
	{"ReadShared", "shared", waits((*ints).ReadShared)},
	{"IreadShared", "shared", starts((*ints).IreadShared)},
	{"ReadOrdered", "shared", waits((*ints).ReadOrdered)},
}

// do places the pointer that the call uses, and makes the call. All ranks make it.
func (a *form) do(c *mpi.Comm, x *ints, b []int32, off int64) (err error) {
	switch a.pointer {
	case "own":
		_, err = x.Seek(off, io.SeekStart)
	case "shared":
		err = x.SeekShared(0, io.SeekStart)
	}
	return errors.Join(err, a.call(x, b, off), c.Barrier())
}

// TestEachForm (14.4): each call that reads gets what each call that writes has written. By the shared pointer a rank
// gets the part of some rank, and each part is got once.
func TestEachForm(t *testing.T) {
	const n = 4
	ranks(t, func(c *mpi.Comm, x *ints) error {
		for i := range writes {
			w, r := &writes[i], &reads[i]
			off := int64(n * c.Rank())
			mine := numbers(c.Rank(), n)
			mine[n-1] = int32(i)
			if err := w.do(c, x, mine, off); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			got := make([]int32, n)
			if err := r.do(c, x, got, off); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			from := int(got[0]) / 1000
			want := numbers(from, n)
			want[n-1] = int32(i)
			once, err := mpi.AllreduceOne(c, uint64(1)<<from, mpi.Sum)
			err = errors.Join(err, same(w.name+" and "+r.name, got, want))
			if w.pointer == "" && r.pointer == "" || w.pointer == "own" && r.pointer == "own" {
				err = errors.Join(err, same(w.name+" and "+r.name, got, mine))
			}
			if once != 1<<c.Size()-1 {
				err = errors.Join(err, fmt.Errorf("%s and %s: ranks got the parts %b", w.name, r.name, once))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// TestDelete (14.2.3): a file is deleted by name, once.
func TestDelete(t *testing.T) {
	name := filepath.Join(t.TempDir(), "data")
	err := mpi.Run(1, func(c *mpi.Comm) error {
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			return err
		}
		if err := Delete(c.Proc(), name); err != nil {
			return err
		}
		if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("after Delete: %v", err)
		}
		if err := Delete(c.Proc(), name); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the second Delete: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestAtomicity (14.6.1): it is what all ranks have set.
func TestAtomicity(t *testing.T) {
	ranks(t, func(_ *mpi.Comm, x *ints) error {
		for _, on := range []bool{true, false, true} {
			if err := x.SetAtomicity(on); err != nil {
				return err
			}
			if x.Atomicity() != on {
				return fmt.Errorf("atomicity %t, want %t", x.Atomicity(), on)
			}
		}
		return nil
	})
}
