package file

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/fileview"
	"github.com/golci/golci/mpi/internal/info"
)

// Mode is how a file is opened, by the numbers of the ABI (14.2.1).
type Mode int

// Modes. One of RDONLY, RDWR and WRONLY is needed.
const (
	Append        Mode = 1 // all pointers begin at the end of the file
	Create        Mode = 2
	DeleteOnClose Mode = 4
	Excl          Mode = 8 // with Create: there must be no such file
	RDONLY        Mode = 16
	RDWR          Mode = 32
	Sequential    Mode = 64 // only the shared pointer is used
	UniqueOpen    Mode = 128
	WRONLY        Mode = 256

	allModes = Append | Create | DeleteOnClose | Excl | RDONLY | RDWR | Sequential | UniqueOpen | WRONLY
)

// File is a file that the ranks of a communicator have opened. Its methods may be called from any goroutine or thread.
// Collective ones must come in one order on all ranks.
type File struct {
	// Fixed.
	c      *core.Comm // of its own
	f      *os.File   // of this rank's own
	name   string
	mode   Mode
	shared *pointer

	mu     sync.Mutex // guards the rest; nothing blocks under it
	shown  rankView
	pos    int64 // individual pointer, in etypes
	atomic bool
	hints  *info.Info
	last   chan struct{} // closed at the end of the collective that was started last; nil: none was
	split  *split        // the split collective that has begun; nil: none
	closed bool
}

// rankView is what a rank sees of a file.
type rankView struct {
	view            *fileview.View
	form            fileview.Form
	disp            int64
	etype, filetype *dtype.Type
	datarep         string
}

// Open opens a file (14.2.1). Collective over c; it waits. All ranks give one name and one mode. hints may be nil.
// Errors: errs.Amode for modes that do not fit, errs.NotSame for different ones, errs.NoSuchFile, errs.FileExists,
// errs.Access, errs.BadFile and so on, and those of communication. If one rank fails, all do.
func Open(c *core.Comm, name string, mode Mode, hints *info.Info) (*File, error) {
	own, err := c.DupFor("File_open")
	if err != nil {
		return nil, err
	}
	f := &File{c: own, name: name, mode: mode, hints: new(info.Info)}
	byte1 := dtype.Named(dtype.Byte)
	view, err := fileview.New(0, byte1, byte1, fileview.Native)
	f.shown = rankView{view: view, etype: byte1, filetype: byte1, datarep: native}
	if err == nil {
		err = f.openFile(hints)
	}
	if err != nil {
		if f.f != nil {
			_ = f.f.Close() // nothing has been written
		}
		_ = own.Free()
		return nil, err
	}
	return f, nil
}

func (f *File) openFile(hints *info.Info) error {
	err := f.mode.checkMode()
	modes, e := f.gather("File_open", int64(f.mode)<<8|int64(class(err)))
	if e != nil {
		return e
	}
	for r, m := range modes {
		switch {
		case m&0xff != 0 && err == nil:
			err = fmt.Errorf("%w: of rank %d", errs.Class(m&0xff), r)
		case m>>8 != modes[0]>>8 && err == nil:
			err = fmt.Errorf("%w: mode %d of rank %d, mode %d of rank 0", errs.NotSame, m>>8, r, modes[0]>>8)
		}
	}
	if err != nil { // on all ranks
		return f.fileErrorf("File_open", err)
	}
	if hints != nil {
		f.keepHints(hints)
	}
	if err := f.openAll(); err != nil {
		return err
	}
	at := int64(0)
	if f.mode&Append != 0 {
		at, err = f.fileBytes()
	}
	if err := f.together("File_open", err); err != nil {
		return err
	}
	f.pos = at
	f.shared, err = newPointer(f.c, at)
	return err
}

// openAll opens the file on rank 0, which makes it if it must, and then on the others.
func (f *File) openAll() (err error) {
	flags := f.mode.flags()
	if f.c.Rank() == 0 {
		f.f, err = os.OpenFile(f.name, flags, f.permissions())
	}
	if err := f.together("File_open", err); err != nil {
		return err
	}
	if f.c.Rank() != 0 {
		f.f, err = os.OpenFile(f.name, flags&^(os.O_CREATE|os.O_EXCL), 0)
	}
	return f.together("File_open", err)
}

// permissions are those of a new file, by the hint file_perm in octal.
func (f *File) permissions() os.FileMode {
	if s, ok, err := f.hints.Get("file_perm"); ok && err == nil {
		if n, err := strconv.ParseUint(strings.TrimSpace(s), 8, 12); err == nil {
			return fs.FileMode(n)
		}
	}
	return 0o666
}

// checkMode tells what is wrong with a mode.
func (m Mode) checkMode() error {
	n := 0
	for _, way := range []Mode{RDONLY, RDWR, WRONLY} {
		if m&way != 0 {
			n++
		}
	}
	switch {
	case m&^allModes != 0:
		return fmt.Errorf("%w: %#x", errs.Amode, int(m))
	case n != 1:
		return fmt.Errorf("%w: %d of RDONLY, RDWR and WRONLY, where one is needed", errs.Amode, n)
	case m&RDONLY != 0 && m&(Create|Excl) != 0:
		return fmt.Errorf("%w: a file that is only read cannot be made", errs.Amode)
	case m&RDWR != 0 && m&Sequential != 0:
		return fmt.Errorf("%w: a sequential file is read or written, not both", errs.Amode)
	}
	return nil
}

func (m Mode) flags() int {
	flags := os.O_RDWR
	switch {
	case m&RDONLY != 0:
		flags = os.O_RDONLY
	case m&WRONLY != 0:
		flags = os.O_WRONLY
	}
	if m&Create != 0 {
		flags |= os.O_CREATE
	}
	if m&Excl != 0 && m&Create != 0 {
		flags |= os.O_EXCL
	}
	return flags
}

// Close ends the use of a file (14.2.2). Collective; it waits until all ranks have called it, and for what they have
// started. errs.File: the file is closed.
func (f *File) Close() error {
	if err := f.quiet("File_close"); err != nil {
		return err
	}
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	err := f.together("File_close", f.f.Close())
	if e := f.shared.freePointer(); err == nil {
		err = e
	}
	if f.mode&DeleteOnClose != 0 {
		var gone error
		if f.c.Rank() == 0 {
			gone = os.Remove(f.name)
		}
		if e := f.together("File_close", gone); err == nil {
			err = e
		}
	}
	if e := f.c.Free(); err == nil {
		err = e
	}
	return err
}

// Delete removes a file that nobody has open (14.2.3). It does not wait for other ranks. Errors: errs.NoSuchFile,
// errs.Access and so on.
func Delete(p *core.Proc, name string) error {
	if err := os.Remove(name); err != nil {
		return p.World().Errorf("File_delete", ": %w: %w: file %q", class(err), err, name)
	}
	return nil
}

// gather gives all ranks the numbers of all.
func (f *File) gather(what string, mine ...int64) ([]int64, error) {
	all := make([]int64, len(mine)*f.c.Size())
	n, t := int64(len(mine)), dtype.Named(dtype.Int64)
	err := f.c.Do(&argument.Description{
		Kind: argument.KindAllgather, What: what,
		In:  argument.Side{Mem: unsafe.Pointer(&mine[0]), N: n, T: t},
		Out: argument.Side{Mem: unsafe.Pointer(&all[0]), N: n, T: t},
	})
	return all, err
}

// together gives all ranks an error if one of them has one: the own one where there is one.
func (f *File) together(what string, err error) error {
	all, e := f.gather(what, int64(class(err)))
	if e != nil {
		return e
	}
	if err != nil {
		return f.fileErrorf(what, err)
	}
	for r, c := range all {
		if c != 0 {
			return f.fileErrorf(what, fmt.Errorf("%w: rank %d has failed", errs.Class(c), r))
		}
	}
	return nil
}
