package schedule

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Elements that are combined have elemSize bytes. Combinations of them show what an algorithm has done.
const elemSize = 4

// intervals are low and high end, and two bytes that tell which element it is. Combining is right only for neighbours,
// the lower one first.
func interval(rank, i int) []byte { return []byte{byte(rank), byte(rank + 1), byte(i), byte(i >> 8)} }

func joinIntervals(a, b []byte) ([]byte, error) {
	if a[1] != b[0] || !bytes.Equal(a[2:], b[2:]) {
		return nil, fmt.Errorf("%v is combined with %v", a, b)
	}
	return []byte{a[0], b[1], a[2], a[3]}, nil
}

// Hashes are numbers. Combining them neither commutes nor is associative, so a result tells the whole order in which it
// was made.
func hash(rank, i int) []byte {
	return binary.LittleEndian.AppendUint32(nil, uint32(rank*7919+i*104729+12345))
}

func joinHashes(a, b []byte) ([]byte, error) {
	x, y := binary.LittleEndian.Uint32(a), binary.LittleEndian.Uint32(b)
	x = x*0x9e3779b1 ^ (y<<13 | y>>19)
	x = (x ^ x>>15) * 0x85ebca77
	return binary.LittleEndian.AppendUint32(nil, x^x>>13), nil
}

// kindOf is what is combined in a call.
type kindOf struct {
	elem func(rank, i int) []byte
	join func(a, b []byte) ([]byte, error)
}

var kinds = []kindOf{{interval, joinIntervals}, {hash, joinHashes}}

// vector is what a rank contributes.
func (k kindOf) vector(rank, elems int) (b []byte) {
	for i := range elems {
		b = append(b, k.elem(rank, i)...)
	}
	return b
}

// combine is the operation of a call on vectors.
func (k kindOf) combine(out, low, high []byte, lost bool) error {
	for i := 0; i < len(out); i += elemSize {
		x, err := k.join(low[i:][:elemSize], high[i:][:elemSize])
		if err != nil {
			return fmt.Errorf("at %d of %d: %w", i, len(out), err)
		}
		if lost {
			copy(high[i:], []byte{0xff, 0xff, 0xff, 0xff})
		}
		copy(out[i:], x)
	}
	return nil
}

// must is join of what can be combined.
func (k kindOf) must(a, b []byte) []byte {
	x, err := k.join(a, b)
	if err != nil {
		panic(err)
	}
	return x
}

// reduced is the vector of ranks first to end, in the order that all reductions keep.
func (k kindOf) reduced(first, end, elems int) (b []byte) {
	for i := range elems {
		var all [][]byte
		for r := first; r < end; r++ {
			all = append(all, k.elem(r, i))
		}
		power := 1
		for 2*power <= len(all) {
			power *= 2
		}
		var numbers [][]byte
		for len(numbers)+len(all) > power { // too many: two of them are one
			numbers = append(numbers, k.must(all[0], all[1]))
			all = all[2:]
		}
		b = append(b, k.tree(append(numbers, all...))...)
	}
	return b
}

// tree combines a power of two elements.
func (k kindOf) tree(all [][]byte) []byte {
	if len(all) == 1 {
		return all[0]
	}
	half := len(all) / 2
	return k.must(k.tree(all[:half]), k.tree(all[half:]))
}

// scanned is the vector of ranks 0 to last, in the order of scans: that of the last span ranks of those is that of half
// of them after that of the others.
func (k kindOf) scanned(last, elems int) (b []byte) {
	for i := range elems {
		span := 1
		for span <= last {
			span *= 2
		}
		b = append(b, k.run(last, span, i)...)
	}
	return b
}

func (k kindOf) run(last, span, i int) []byte {
	if span == 1 {
		return k.elem(last, i)
	}
	high := k.run(last, span/2, i)
	if last < span/2 {
		return high
	}
	return k.must(k.run(last-span/2, span/2, i), high)
}
