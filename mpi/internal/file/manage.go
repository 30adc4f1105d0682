package file

import (
	"fmt"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/fileview"
	"github.com/golci/golci/mpi/internal/info"
)

// Names of data representations (14.5).
const (
	native   = "native"
	internal = "internal"
	external = "external32"
)

// Comm is the communicator of the file's own, with the ranks of the one that it was opened with.
func (f *File) Comm() *core.Comm { return f.c }

// Name is the name that the file was opened by.
func (f *File) Name() string { return f.name }

// Mode is how the file was opened (14.2.7).
func (f *File) Mode() Mode { return f.mode }

// checkUsable tells whether the file may be used.
func (f *File) checkUsable(what string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return f.c.Errorf(what, ": %w: file %q is closed", errs.File, f.name)
	}
	return nil
}

// quiet waits for the collectives that have been started. The caller is about to do one.
func (f *File) quiet(what string) error {
	if err := f.checkUsable(what); err != nil {
		return err
	}
	f.mu.Lock()
	last := f.last
	f.mu.Unlock()
	if last != nil {
		<-last
	}
	return nil
}

func (f *File) fileBytes() (int64, error) {
	st, err := f.f.Stat()
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

// Size is the number of bytes of the file (14.2.6).
func (f *File) Size() (int64, error) {
	if err := f.checkUsable("File_get_size"); err != nil {
		return 0, err
	}
	n, err := f.fileBytes()
	return n, f.fileErrorf("File_get_size", err)
}

// SetSize cuts the file off, or makes it longer, at size bytes (14.2.4). Collective; it waits. errs.Arg: size is
// negative, or the ranks differ.
func (f *File) SetSize(size int64) error {
	return f.resize("File_set_size", size, func() error { return f.f.Truncate(size) })
}

// Preallocate makes the system keep room for size bytes, to which a shorter file grows (14.2.5). Collective; it waits.
// Errors: those of SetSize, and errs.NoSpace.
func (f *File) Preallocate(size int64) error {
	return f.resize("File_preallocate", size, func() error {
		if size == 0 {
			return nil
		}
		return reserve(f.f, size)
	})
}

func (f *File) resize(what string, size int64, change func() error) error {
	err := f.quiet(what)
	if err != nil {
		return err
	}
	switch {
	case size < 0:
		err = fmt.Errorf("%w: a size of %d", errs.Arg, size)
	case f.mode&RDONLY != 0:
		err = errs.ReadOnly
	}
	sizes, e := f.gather(what, size)
	if e != nil {
		return e
	}
	for r, n := range sizes {
		if err == nil && n != sizes[0] {
			err = fmt.Errorf("%w: %d bytes on rank %d, %d on rank 0", errs.Arg, n, r, sizes[0])
		}
	}
	if err == nil && f.c.Rank() == 0 {
		err = change()
	}
	return f.together(what, err)
}

// Sync brings what this rank has written to the device, and shows it what others have brought there (14.6.1).
// Collective; it waits.
func (f *File) Sync() error {
	if err := f.quiet("File_sync"); err != nil {
		return err
	}
	var err error
	if f.mode&RDONLY == 0 {
		err = f.f.Sync()
	}
	return f.together("File_sync", err)
}

// SetAtomicity tells whether accesses that overlap are atomic (14.6.1). Collective; it waits. errs.Arg: the ranks
// differ. errs.UnsupportedOperation: the system has no locks of parts of files.
func (f *File) SetAtomicity(on bool) error {
	if err := f.quiet("File_set_atomicity"); err != nil {
		return err
	}
	var err error
	mine := int64(0)
	if on {
		mine = 1
		if !hasLocks {
			err = fmt.Errorf("%w: parts of files cannot be locked here", errs.UnsupportedOperation)
		}
	}
	all, e := f.gather("File_set_atomicity", mine)
	if e != nil {
		return e
	}
	for _, a := range all {
		if a != mine && err == nil {
			err = fmt.Errorf("%w: some ranks want atomic accesses, others do not", errs.Arg)
		}
	}
	if err != nil {
		return f.fileErrorf("File_set_atomicity", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.atomic = on
	return nil
}

// Atomicity is what SetAtomicity was given.
func (f *File) Atomicity() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.atomic
}

// hintKeys are the hints that are kept (14.2.8). Of them cb_nodes, cb_buffer_size and file_perm have an effect.
var hintKeys = []string{
	"access_style", "collective_buffering", "cb_block_size", "cb_buffer_size", "cb_nodes", "chunked", "chunked_item",
	"chunked_size", "filename", "file_perm", "io_node_list", "nb_proc", "num_io_nodes", "striping_factor",
	"striping_unit", "mpi_assert_memory_alloc_kinds",
}

func (f *File) keepHints(hints *info.Info) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range hintKeys {
		if v, ok, err := hints.Get(k); ok && err == nil {
			_ = f.hints.Set(k, v) // it has been in an info object
		}
	}
}

// SetHints takes hints (14.2.8). Collective; it waits. hints may be nil.
func (f *File) SetHints(hints *info.Info) error {
	if err := f.quiet("File_set_info"); err != nil {
		return err
	}
	if hints != nil {
		f.keepHints(hints)
	}
	return f.together("File_set_info", nil)
}

// Hints are those in use.
func (f *File) Hints() *info.Info {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hints.Dup()
}

// hint is the value of a hint that is a positive number, or else what is given.
func (f *File) hint(key string, or int64) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n, ok := f.hints.Int(key); ok && n > 0 {
		return n
	}
	return or
}

// CurrentDisp stands for where the shared pointer is (14.3.1).
const CurrentDisp = -1

// SetView sets what this rank sees: from byte disp on, what filetype shows, in etypes (14.3.1). datarep is native,
// internal or external32. The pointers go to the beginning. Collective; it waits. errs.IO: a file that may be written
// would show a byte twice. errs.Type: a type is not committed,
// or the ranks' etypes differ in size; errs.UnsupportedDatarep; and the errors of fileview.New.
func (f *File) SetView(disp int64, etype, filetype *dtype.Type, datarep string, hints *info.Info) error {
	const what = "File_set_view"
	if err := f.quiet(what); err != nil {
		return err
	}
	disp, err := f.current(disp)
	next := rankView{disp: disp, etype: etype, filetype: filetype, datarep: datarep}
	if err == nil {
		err = next.make()
	}
	if err == nil && f.mode&RDONLY == 0 && next.view.Overlaps() {
		err = fmt.Errorf("%w: bytes that are shown twice, of a file that may be written", errs.IO)
	}
	if err := f.together(what, err); err != nil {
		return err
	}
	units, err := f.gather(what, next.view.Unit())
	if err != nil {
		return err
	}
	for r, u := range units {
		if u != units[0] {
			return f.fileErrorf(what, fmt.Errorf("%w: etypes of %d bytes on rank %d, of %d on rank 0", errs.Type, u, r,
				units[0]))
		}
	}
	if hints != nil {
		f.keepHints(hints)
	}
	f.mu.Lock()
	f.shown, f.pos = next, 0
	f.mu.Unlock()
	if f.c.Rank() == 0 {
		err = f.shared.setTo(0)
	}
	return f.together(what, err)
}

// current is the place that disp stands for.
func (f *File) current(disp int64) (int64, error) {
	if disp != CurrentDisp || f.mode&Sequential == 0 {
		return disp, nil
	}
	at, err := f.shared.addTo(0)
	s := f.sight()
	return s.view.At(at * s.view.Unit()), err
}

func (s *rankView) make() (err error) {
	switch s.datarep {
	case native, internal:
		s.form = fileview.Native
	case external:
		s.form = fileview.External
	default:
		return fmt.Errorf("%w: %q", errs.UnsupportedDatarep, s.datarep)
	}
	if !s.etype.Committed() || !s.filetype.Committed() {
		return fmt.Errorf("%w: a datatype of a view has not been committed", errs.Type)
	}
	s.view, err = fileview.New(s.disp, s.etype, s.filetype, s.form)
	return err
}

// sight is what the rank sees now.
func (f *File) sight() rankView {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.shown
}

// View gives what SetView was given.
func (f *File) View() (disp int64, etype, filetype *dtype.Type, datarep string) {
	s := f.sight()
	return s.disp, s.etype, s.filetype, s.datarep
}

// ByteOffset is the byte of the file where an offset in etypes is (14.4.3). errs.Arg: it is negative.
func (f *File) ByteOffset(offset int64) (int64, error) {
	s := f.sight()
	if offset < 0 || offset > 0 && !s.view.Fits(0, offset*s.view.Unit()) {
		return 0, f.fileErrorf("File_get_byte_offset", fmt.Errorf("%w: an offset of %d", errs.Arg, offset))
	}
	return s.view.At(offset * s.view.Unit()), nil
}

// TypeExtent is the distance of elements of t in the file (14.5.1).
func (f *File) TypeExtent(t *dtype.Type) (int64, error) {
	n, err := fileview.Extent(t, f.sight().form)
	return n, f.fileErrorf("File_get_type_extent", err)
}

// Whence is what a seek counts from, by the numbers of the ABI (14.4.3).
type Whence int

// What a seek counts from.
const (
	SeekCurrent Whence = 401
	SeekEnd     Whence = 402
	SeekSet     Whence = 403
)

// seekTarget is the place of a seek in etypes.
func (f *File) seekTarget(offset int64, whence Whence, now func() (int64, error)) (to int64, err error) {
	switch whence {
	case SeekSet:
	case SeekCurrent:
		to, err = now()
	case SeekEnd:
		var end int64
		end, err = f.fileBytes()
		v := f.sight().view
		to = v.Past(end) / v.Unit()
	default:
		err = fmt.Errorf("%w: a seek from %d", errs.Arg, whence)
	}
	if to += offset; err == nil && to < 0 {
		err = fmt.Errorf("%w: a seek to %d", errs.Arg, to)
	}
	return to, err
}

// SeekTo moves the individual pointer, by etypes (14.4.3). errs.Arg: it would be negative. errs.UnsupportedOperation:
// the file is sequential.
func (f *File) SeekTo(offset int64, whence Whence) error {
	if err := f.checkUsable("File_seek"); err != nil {
		return err
	}
	err := f.random()
	var to int64
	if err == nil {
		to, err = f.seekTarget(offset, whence, func() (int64, error) { return f.Position(), nil })
	}
	if err != nil {
		return f.fileErrorf("File_seek", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pos = to
	return nil
}

// random tells why there are no accesses at will; nil: there are.
func (f *File) random() error {
	if f.mode&Sequential != 0 {
		return fmt.Errorf("%w: the file is sequential", errs.UnsupportedOperation)
	}
	return nil
}

// Position is the individual pointer, in etypes.
func (f *File) Position() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pos
}

// SeekShared moves the shared pointer, by etypes (14.4.4). Collective, with one place on all ranks: errs.Arg. It waits.
func (f *File) SeekShared(offset int64, whence Whence) error {
	const what = "File_seek_shared"
	if err := f.quiet(what); err != nil {
		return err
	}
	if err := f.together(what, nil); err != nil { // what the ranks have written has made the file longer
		return err
	}
	to, err := f.seekTarget(offset, whence, func() (int64, error) { return f.shared.addTo(0) })
	all, e := f.gather(what, to)
	if e != nil {
		return e
	}
	for r, n := range all {
		if n != all[0] && err == nil {
			err = fmt.Errorf("%w: rank %d goes to %d, rank 0 to %d", errs.Arg, r, n, all[0])
		}
	}
	if err == nil && f.c.Rank() == 0 {
		err = f.shared.setTo(to)
	}
	return f.together(what, err)
}

// PositionShared is the shared pointer, in etypes.
func (f *File) PositionShared() (int64, error) {
	if err := f.checkUsable("File_get_position_shared"); err != nil {
		return 0, err
	}
	n, err := f.shared.addTo(0)
	return n, f.fileErrorf("File_get_position_shared", err)
}
