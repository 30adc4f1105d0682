// Package arena gives out memory that other ranks of the node can map.
package arena

import (
	"slices"
	"sync"
)

// Arena gives memory that other ranks of the node can map, for windows and shared segments. It comes out of large
// pieces of the conduit, which are never given back. What is freed goes to later users.
type Arena struct {
	grow func(size int64) ([]byte, error) // gives a new piece

	mu   sync.Mutex // guards the rest
	free [][]byte   // by place; never two that touch each other in one piece
}

// Init has a grow by grow, which gives a new piece of at least size bytes.
func (a *Arena) Init(grow func(size int64) ([]byte, error)) { a.grow = grow }

const (
	step  = 4 << 20
	align = 64
)

// Take gives a block of size bytes or some more, of unknown content, aligned to a cache line.
func (a *Arena) Take(size int64) ([]byte, error) {
	if size == 0 {
		return nil, nil
	}
	n := (size + align - 1) &^ (align - 1)
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, f := range a.free {
		if int64(len(f)) < n {
			continue
		}
		if a.free[i] = f[n:]; int64(len(f)) == n {
			a.free = slices.Delete(a.free, i, i+1)
		}
		return f[:n], nil
	}
	mem, err := a.grow(max(n, step))
	if err != nil {
		return nil, err
	}
	if rest := mem[n:]; len(rest) > 0 {
		a.free = append(a.free, rest)
	}
	return mem[:n], nil
}

// Give takes a block back that Take has given.
func (a *Arena) Give(mem []byte) {
	if len(mem) == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := 0; i < len(a.free); i++ {
		f := a.free[i]
		switch {
		case touches(f, mem):
			mem = f[:len(f)+len(mem)]
		case touches(mem, f):
			mem = mem[:len(f)+len(mem)]
		default:
			continue
		}
		a.free = slices.Delete(a.free, i, i+1)
		i = -1
	}
	a.free = append(a.free, mem)
}

// CountFree is how many pieces of free memory there are.
func (a *Arena) CountFree() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.free)
}

// touches tells whether b lies right behind a, in one piece.
func touches(a, b []byte) bool {
	return cap(a) > len(a) && &a[:len(a)+1][len(a)] == &b[0]
}
