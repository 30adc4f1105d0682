package dtype

import (
	"bytes"
	"syscall"
	"testing"
	"unsafe"
)

// TestBottom: places may be addresses, of memory that is not Go's.
func TestBottom(t *testing.T) {
	page, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Munmap(page); err != nil {
			t.Error(err)
		}
	}()
	copy(page, []byte{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0})
	at := int64(uintptr(unsafe.Pointer(&page[0])))
	typ, err := Hindexed([]int64{1, 1}, []int64{at + 8, at}, Named(Int))
	if err != nil {
		t.Fatal(err)
	}
	var c Cursor
	typ.Over(&c, nil, 1)
	got := make([]byte, 8)
	c.Pack(got, 0)
	if !bytes.Equal(got, []byte{3, 0, 0, 0, 1, 0, 0, 0}) {
		t.Errorf("packed %v", got)
	}
	c.Unpack([]byte{7, 0, 0, 0, 9, 0, 0, 0}, 0)
	if !bytes.Equal(page[:12], []byte{9, 0, 0, 0, 2, 0, 0, 0, 7, 0, 0, 0}) {
		t.Errorf("unpacked %v", page[:12])
	}
}
