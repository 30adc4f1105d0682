package coll

import (
	"unsafe"

	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// buffer is one of the program: len elements of size bytes.
type buffer struct {
	mem       []byte
	len, size int
}

// setBuffers gives x the buffers of its call: where they begin, and how many elements of size bytes they have. A call with
// one buffer has it as out.
func (x *Call) setBuffers(in unsafe.Pointer, nIn int, out unsafe.Pointer, nOut, size int) {
	x.buf[schedule.In].setBuffer(in, nIn, size)
	x.buf[schedule.Out].setBuffer(out, nOut, size)
}

// setBuffer sets the fields one by one, which costs less than to set the whole.
func (b *buffer) setBuffer(mem unsafe.Pointer, n, size int) {
	b.mem = unsafe.Slice((*byte)(mem), n*size)
	b.len, b.size = n, size
}

// checkRoot checks the root of a call of one group.
func (x *Call) checkRoot(root int) error {
	if uint(root) >= uint(x.size) {
		return x.callErrorf(sentinel.ErrRoot, "%d", root)
	}
	return nil
}

// lengthFor checks that a buffer of got elements takes want.
func (x *Call) lengthFor(name string, got, want int) error {
	if got < want {
		return x.callErrorf(sentinel.ErrCount, "the %s buffer has %d elements, %d are needed", name, got, want)
	}
	return nil
}
