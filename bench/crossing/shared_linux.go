package crossing

import (
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

// create makes a page of lines without a name, to which processes of this user attach while the file is open.
func create() (*Lines, *os.File, error) {
	fd, err := unix.MemfdCreate(label, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fd), label)
	if err := f.Truncate(mapped); err != nil {
		f.Close()
		return nil, nil, err
	}
	l, err := mapFile(f)
	return l, f, err
}

// attach maps the page that process pid made and holds as descriptor fd. It opens nothing else: on another node the
// same numbers may name somebody's file.
func attach(pid, fd int) (*Lines, error) {
	path := fmt.Sprintf("/proc/%d/fd/%d", pid, fd)
	name, err := os.Readlink(path)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(name, "/memfd:"+label) {
		return nil, fmt.Errorf("%s is %s, not a page of lines", path, name)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return mapFile(f)
}

// mapFile maps the page until the process ends.
func mapFile(f *os.File) (*Lines, error) {
	mem, err := unix.Mmap(int(f.Fd()), 0, mapped, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return (*Lines)(unsafe.Pointer(unsafe.SliceData(mem))), err
}
