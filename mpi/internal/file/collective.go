package file

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/golci/golci/mpi/internal/errs"
)

// part is what a rank has of a collective access: bytes of the file from low to high, of which it uses n.
type part struct{ n, low, high int64 }

// runAll reads or writes with all ranks. A rank whose arguments are wrong takes part without data.
func (f *File) runAll(a *access, bad error) (n int64, err error) {
	if a.Pointer == Ordered {
		if err = f.queue(a); err != nil {
			return 0, err
		}
	}
	if bad == nil && !a.view.Fits(a.pos, int64(len(a.data))) {
		bad = f.fileErrorf(a.What, fmt.Errorf("%w: %d bytes at %d are beyond what the view shows", errs.IO, len(a.data),
			a.pos))
		a.data = nil
	}
	data := a.data
	if !a.Write && len(data) > 0 {
		end, e := f.fileBytes()
		if e != nil && bad == nil {
			bad = f.fileErrorf(a.What, e)
		}
		data = data[:before(a, end)]
	}
	all := pieces(a.view, a.pos, data)
	parts, err := f.partsOf(a.What, all, len(data))
	if err != nil {
		return 0, err
	}
	if a.loud || apart(parts) {
		n, err = f.alone(a)
		err = f.fileErrorf(a.What, err)
	} else {
		n, err = int64(len(data)), f.exchangePieces(a, all, parts)
	}
	if bad != nil {
		return 0, bad
	}
	return n, err
}

// queue gives the ranks their places one behind the other, and moves the shared pointer behind the last one.
func (f *File) queue(a *access) error {
	units := int64(len(a.data)) / a.view.Unit()
	all, err := f.gather(a.What, units)
	if err != nil {
		return err
	}
	sum, mine := int64(0), int64(0)
	for r, n := range all {
		if r == f.c.Rank() {
			mine = sum
		}
		sum += n
	}
	at := int64(0)
	if f.c.Rank() == 0 {
		at, err = f.shared.addTo(sum)
	}
	if err = f.together(a.What, err); err != nil {
		return err
	}
	first, err := f.gather(a.What, at)
	if err == nil {
		a.pos = (first[0] + mine) * a.view.Unit()
	}
	return err
}

// before is how many bytes of the access come before the end of the file.
func before(a *access, end int64) int64 {
	n := int64(0)
	for _, p := range pieces(a.view, a.pos, a.data) {
		have := min(max(end-p.at, 0), int64(len(p.mem)))
		if n += have; have < int64(len(p.mem)) {
			break
		}
	}
	return n
}

// partsOf are those of all ranks.
func (f *File) partsOf(what string, all []piece, n int) ([]part, error) {
	mine := part{n: int64(n)}
	if len(all) > 0 {
		mine.low, mine.high = bounds(all)
	}
	words, err := f.gather(what, mine.n, mine.low, mine.high)
	parts := make([]part, f.c.Size())
	for r := range parts {
		parts[r] = part{words[3*r], words[3*r+1], words[3*r+2]}
	}
	return parts, err
}

// apart tells that no two ranks have bytes between each other's, so that nothing is gained by an exchange.
func apart(parts []part) bool {
	used := slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return p.n == 0 })
	slices.SortFunc(used, func(a, b part) int { return cmp.Compare(a.low, b.low) })
	for i := 1; i < len(used); i++ {
		if used[i].low < used[i-1].high {
			return false
		}
	}
	return true
}
