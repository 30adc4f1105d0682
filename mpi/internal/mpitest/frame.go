package mpitest

import (
	"fmt"
	"math/rand/v2"
	"unsafe"

	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/dtype"
)

// frame is the memory round a buffer of a collective. The model says of each byte what it is before the call, and what
// it must be after it.
type frame struct {
	mem    []byte // the program's
	before []byte
	after  []byte
	free   []bool // after the call it may be anything
	areas  []area // of the parts, from base on
	base   int
}

// Bytes of messages have one of two tones, and no byte of a frame to which nothing has come has any.
const (
	tone      = 0x80
	otherTone = 0xc0 // of a call that fails
	tones     = 0xc0
)

// margin is how many bytes there are round the buffer.
const margin = 16

// newFrame makes a frame of areas, whose places may be negative.
func newFrame(areas []area) *frame {
	low, high := 0, 0
	for _, a := range areas {
		l, h := a.bounds()
		low, high = min(low, l), max(high, h)
	}
	f := &frame{areas: areas, base: margin - low}
	n := f.base + high + margin
	f.mem, f.before, f.after, f.free = make([]byte, n), make([]byte, n), make([]byte, n), make([]bool, n)
	for i := range n {
		f.before[i] = byte(i*7) & 0x3f
	}
	copy(f.after, f.before)
	return f
}

// set puts bytes into the area of part i, in one of the two states.
func (f *frame) set(state []byte, i int, data []byte) {
	for k, b := range data {
		state[f.base+f.areas[i].place(k)] = b
	}
}

// open allows the bytes of part i from one on to be anything.
func (f *frame) open(i, from int) {
	for k := from; k < f.areas[i].bytes(); k++ {
		f.free[f.base+f.areas[i].place(k)] = true
	}
}

// fresh sets the memory to what it is before the call.
func (f *frame) fresh() { copy(f.mem, f.before) }

// settle makes what may be anything what the model has there, so that it is no difference.
func (f *frame) settle() []byte {
	for i, free := range f.free {
		if free {
			f.mem[i] = f.after[i]
		}
	}
	return f.mem
}

// whole finds a byte that no message of a failed call can have written: it has changed, and lies in no area, or is of
// no message of the call.
func (f *frame) whole() error {
	inside := make([]bool, len(f.mem))
	for _, a := range f.areas {
		for k := range a.bytes() {
			inside[f.base+a.place(k)] = true
		}
	}
	for i, b := range f.mem {
		if b != f.before[i] && (!inside[i] || b&tones != otherTone) {
			return fmt.Errorf("byte %d of %d was %#x and is %#x after a call that fails; in a part: %v", i, len(f.mem),
				f.before[i], b, inside[i])
		}
	}
	return nil
}

// style is how a side gives its parts.
type style uint8

const (
	single   style = iota // one part
	equal                 // as long as each other, one behind the other
	counted               // each with its length
	typed                 // each with its type, at a displacement
	separate              // the same, each with its address
)

// layOut draws the places of parts of so many elements of size bytes.
func layOut(r *rand.Rand, how style, counts []int, size int) []area {
	of := drawLayout(r, size)
	areas, at := make([]area, len(counts)), 0
	for _, i := range r.Perm(len(counts)) {
		n := counts[i]
		switch how {
		case single, equal:
			areas[i] = area{i * n * of.extent, n, of}
		case counted:
			areas[i] = area{at * of.extent, n, of}
			at += n + r.IntN(3)
		default:
			of = drawLayout(r, size)
			at += r.IntN(4) + 4 // some bytes may lie before the address
			areas[i] = area{at, n, of}
			at += n * of.extent
		}
	}
	return areas
}

// side is the buffer of a frame as the layer below mpi has it.
func (f *frame) side(how style) argument.Side {
	s := argument.Side{Mem: unsafe.Pointer(&f.mem[f.base])}
	if len(f.areas) > 0 {
		s.T, s.N = f.areas[0].of.t, int64(f.areas[0].n)
	} else {
		s.T = dtype.Named(dtype.Byte)
	}
	if how < counted {
		return s
	}
	s.N = 0
	s.Parts = argument.Parts{Counts: make([]int, len(f.areas)), Displs: make([]int, len(f.areas))}
	if how >= typed {
		s.Mixed = new(argument.MixedParts)
	}
	for i, a := range f.areas {
		s.Parts.Counts[i] = a.n
		switch how {
		case counted:
			s.Parts.Displs[i] = a.at / max(a.of.extent, 1)
		case separate:
			s.Mixed.Mems = append(s.Mixed.Mems, unsafe.Pointer(&f.mem[f.base+a.at]))
		default:
			s.Parts.Displs[i] = a.at
		}
		if how >= typed {
			s.Mixed.Types = append(s.Mixed.Types, a.of.t)
		}
	}
	return s
}
