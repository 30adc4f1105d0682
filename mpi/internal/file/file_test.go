package file

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/rank"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ranks runs f as each of n ranks in this process.
func ranks(t *testing.T, n int, f func(c *core.Comm) error) {
	t.Helper()
	procs := make([]*core.Proc, n)
	cfg := rank.Config{Caller: "file"}
	cfg.Attach = func(r *rank.Rank) (err error) {
		procs[r.Rank()], err = core.NewProc(r, true)
		return err
	}
	team, err := rank.Local(n, cfg)
	if err == nil {
		err = team.Run(func(r *rank.Rank) error { return f(procs[r.Rank()].World()) })
	}
	if err != nil {
		t.Fatal(err)
	}
}

func buf(b []byte) core.Buf {
	return core.Buf{Mem: unsafe.Pointer(unsafe.SliceData(b)), N: int64(len(b)), T: dtype.Named(dtype.Byte)}
}

// do does a call, started or not, which must have that many bytes.
func do(f *File, k Call, started bool, want int64) error {
	k.What = "test"
	var st core.Status
	var err error
	if started {
		var r core.Request
		if r, err = f.Start(&k); err == nil {
			st, err = r.Wait("test")
		}
	} else {
		st, err = f.Do(&k)
	}
	if err == nil && st.Bytes != want {
		err = fmt.Errorf("%d bytes, want %d", st.Bytes, want)
	}
	return err
}

// TestStripes has ranks write bytes by turns with views that interleave, in all ways, and read them again.
func TestStripes(t *testing.T) {
	for _, way := range []struct{ all, started, atomic bool }{
		{}, {all: true}, {started: true}, {all: true, started: true}, {all: true, atomic: hasLocks},
	} {
		name := filepath.Join(t.TempDir(), "f")
		ranks(t, 3, func(c *core.Comm) error {
			f, err := Open(c, name, Create|RDWR, nil)
			if err != nil {
				return err
			}
			one := dtype.Named(dtype.Byte)
			stripe, err := dtype.Resized(0, 6, must(dtype.Contiguous(2, one)))
			if err != nil {
				return err
			}
			stripe.Commit()
			if err := f.SetAtomicity(way.atomic); err != nil {
				return err
			}
			if err := f.SetView(2*int64(c.Rank()), one, stripe, "native", nil); err != nil {
				return err
			}
			mine := bytes.Repeat([]byte{byte('a' + c.Rank())}, 100)
			put := Call{Write: true, Pointer: Individual, Collective: way.all, Buf: buf(mine)}
			if err := do(f, put, way.started, 100); err != nil {
				return err
			}
			if err := f.Sync(); err != nil {
				return err
			}
			got := make([]byte, 120)
			if err := do(f, Call{Pointer: At, Collective: way.all, Buf: buf(got)}, way.started, 100); err != nil {
				return err
			}
			if !bytes.Equal(got[:100], mine) || got[100] != 0 || f.Position() != 100 {
				return fmt.Errorf("read %q, pointer at %d", got, f.Position())
			}
			return f.Close()
		})
		text, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(text, bytes.Repeat([]byte("aabbcc"), 50)) {
			t.Errorf("%+v: file has %q: %v", way, text, err)
		}
	}
}

func must(t *dtype.Type, err error) *dtype.Type {
	if err != nil {
		panic(err)
	}
	return t
}

// TestSharedPointer has ranks write in order, and then read all bytes once.
func TestSharedPointer(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	ranks(t, 4, func(c *core.Comm) error {
		f, err := Open(c, name, Create|RDWR|DeleteOnClose, nil)
		if err != nil {
			return err
		}
		mine := bytes.Repeat([]byte{byte('a' + c.Rank())}, c.Rank()+1)
		if err := f.Begin(&Call{What: "begin", Write: true, Pointer: Ordered, Buf: buf(mine)}); err != nil {
			return err
		}
		if _, err := f.End(Call{What: "end", Write: true, Pointer: Ordered}); err != nil {
			return err
		}
		if at, err := f.PositionShared(); err != nil || at != 10 {
			return fmt.Errorf("the shared pointer is at %d: %w", at, err)
		}
		if err := f.SeekShared(-10, SeekEnd); err != nil {
			return err
		}
		got := make([]byte, 10)
		if c.Rank() == 2 {
			if err := do(f, Call{Pointer: Shared, Buf: buf(got)}, false, 10); err != nil {
				return err
			}
			if string(got) != "abbcccdddd" {
				return fmt.Errorf("read %q", got)
			}
		}
		return f.Close()
	})
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}

func TestErrors(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	ranks(t, 2, func(c *core.Comm) error {
		if _, err := Open(c, name, RDONLY, nil); !errors.Is(err, errs.NoSuchFile) {
			return fmt.Errorf("no file: %w", err)
		}
		if _, err := Open(c, name, RDONLY|WRONLY, nil); !errors.Is(err, errs.Amode) {
			return fmt.Errorf("two modes: %w", err)
		}
		if _, err := Open(c, name, Create|WRONLY|Mode(c.Rank())*UniqueOpen, nil); !errors.Is(err, errs.NotSame) {
			return fmt.Errorf("different modes: %w", err)
		}
		f, err := Open(c, name, Create|Excl|WRONLY, nil)
		if err != nil {
			return err
		}
		if err := do(f, Call{Buf: buf(make([]byte, 1))}, false, 0); !errors.Is(err, errs.Access) {
			return fmt.Errorf("reading: %w", err)
		}
		b := dtype.Named(dtype.Byte)
		if err := f.SetView(0, b, b, "none", nil); !errors.Is(err, errs.UnsupportedDatarep) {
			return fmt.Errorf("data representation: %w", err)
		}
		if err := f.Close(); err != nil {
			return err
		}
		if _, err := Open(c, name, Create|Excl|WRONLY, nil); !errors.Is(err, errs.FileExists) {
			return fmt.Errorf("a file that exists: %w", err)
		}
		return nil
	})
}
