package crossing

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	mapped = 4096
	label  = "golci-line" // in /proc; bench/peers uses the same
)

// ErrNotLines says that what should be attached is something else.
var ErrNotLines = errors.New("not made by Create")

// Shared is a page of lines that two processes of one node map. It leaves nothing behind: the memory has no name, and
// goes with the last process that maps it.
type Shared struct {
	mem []byte
	fd  int // of the creator until Close, else -1
}

// Create makes the page. Another process of the same user attaches with this process's id and FD.
func Create() (*Shared, error) {
	fd, err := unix.MemfdCreate(label, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("crossing: memfd: %w", err)
	}
	if err := unix.Ftruncate(fd, mapped); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("crossing: memfd: %w", err)
	}
	return mapFD(fd, true)
}

// Attach maps the page that process pid made and holds as descriptor fd. It opens nothing else: on another node the
// same numbers may name somebody's file.
func Attach(pid, fd int) (*Shared, error) {
	path := fmt.Sprintf("/proc/%d/fd/%d", pid, fd)
	name, err := os.Readlink(path)
	if err != nil {
		return nil, fmt.Errorf("crossing: attach: %w", err)
	}
	if !strings.HasPrefix(name, "/memfd:"+label) {
		return nil, fmt.Errorf("crossing: attach: %s is %s: %w", path, name, ErrNotLines)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("crossing: attach: %w", err)
	}
	defer f.Close()
	return mapFD(int(f.Fd()), false)
}

func mapFD(fd int, keep bool) (*Shared, error) {
	mem, err := unix.Mmap(fd, 0, mapped, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		if keep {
			unix.Close(fd)
		}
		return nil, fmt.Errorf("crossing: map: %w", err)
	}
	if !keep {
		fd = -1
	}
	return &Shared{mem: mem, fd: fd}, nil
}

// FD is the creator's descriptor, -1 for one that attached.
func (s *Shared) FD() int { return s.fd }

// Lines is the page's memory, valid until Close.
func (s *Shared) Lines() *Lines { return (*Lines)(unsafe.Pointer(unsafe.SliceData(s.mem))) }

// Close unmaps the page. It is idempotent.
func (s *Shared) Close() error {
	if s.mem == nil {
		return nil
	}
	if s.fd >= 0 {
		unix.Close(s.fd)
		s.fd = -1
	}
	err := unix.Munmap(s.mem)
	s.mem = nil
	return err
}
