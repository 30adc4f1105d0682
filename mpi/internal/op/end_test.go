package op

import (
	"testing"
	"unsafe"

	"github.com/golci/golci/mpi/internal/dtype"
)

// TestOperandsThatEndMemory: no operation makes a pointer to what lies behind an operand. The race detector stops one
// that does.
func TestOperandsThatEndMemory(t *testing.T) {
	for _, basic := range []dtype.Basic{dtype.Uint8, dtype.Uint16, dtype.Uint64, dtype.CBool} {
		for _, id := range []ID{Sum, Band, Bor, Bxor, Land, Lor, Lxor} {
			f, ok := Lookup(id, basic)
			if !ok {
				continue
			}
			out, low, high := new([8]byte), new([8]byte), new([8]byte)
			f(unsafe.Pointer(out), unsafe.Pointer(low), unsafe.Pointer(high), 8/dtype.Named(basic).Size())
			if *out != [8]byte{} {
				t.Errorf("operation %d of %v on zeros gives %v", id, basic, *out)
			}
		}
	}
}
