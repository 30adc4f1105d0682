package shm

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapping is one segment in this process's address space.
type mapping struct{ mem []byte }

// seals keep everybody, the owner included, from changing the length under a mapping, which would kill its readers.
const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// createMemory returns a new sealed memfd of size bytes.
func createMemory(rank, size int) (*os.File, error) {
	if err := checkFileLimit(int64(size)); err != nil {
		return nil, err
	}
	fd, err := unix.MemfdCreate(fmt.Sprintf("golci-%d", rank), unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "memfd:golci")
	if err := f.Truncate(int64(size)); err != nil {
		return nil, closing(f, err)
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		return nil, closing(f, os.NewSyscallError("fcntl(F_ADD_SEALS)", err))
	}
	return f, nil
}

func closing(f *os.File, err error) error {
	_ = f.Close() // the first error is the one to tell
	return err
}

// mapMemory maps a memfd that is, or is said to be, size bytes long and sealed.
func mapMemory(f *os.File, size int) (*mapping, error) {
	fd := int(f.Fd())
	if got, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0); err != nil || got&seals != seals {
		return nil, fmt.Errorf("memory is not a sealed memfd (seals %#x, %v)", got, err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() != int64(size) {
		return nil, fmt.Errorf("memory is %d bytes long, want %d", info.Size(), size)
	}
	mem, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	return &mapping{mem: mem}, nil
}

// detach replaces the shared memory by private zeros. A late call then reads zeros and does not crash the process.
func (m *mapping) detach() error {
	at := unsafe.Pointer(unsafe.SliceData(m.mem))
	_, err := unix.MmapPtr(-1, 0, at, uintptr(len(m.mem)), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE|unix.MAP_FIXED)
	return os.NewSyscallError("mmap", err)
}

// unmap gives the addresses back.
func (m *mapping) unmap() {
	_ = unix.Munmap(m.mem) // cannot fail for a mapping that is there, and nobody could do anything about it
}
