package coll

import "github.com/golci/golci/internal/schedule"

// fold has out be the combination of the vectors of all ranks, which are as long as out and not written to. They
// combine in the order that all reductions keep, so that equal vectors give equal bits. out overlaps none of them.
func (x *Call) fold(out []byte, all [][]byte) error {
	if len(all) == 2 {
		return x.combineInto(out, all[0], all[1])
	}
	o := schedule.OrderOf(len(all))
	work, s := x.borrow(o.Depth * len(out))
	f := folding{x, o, all}
	_, err := f.runFold(0, o.Numbers, out, work)
	if s != nil {
		s.Release()
		x.scratch = nil
	}
	return err
}

// folding is one fold.
type folding struct {
	x     *Call
	order schedule.Order
	all   [][]byte
}

// runFold combines count numbers from first on, and gives where the result is: in out, or the vector of a rank. work
// has room for a vector for each further level.
func (f *folding) runFold(first, count int, out, work []byte) ([]byte, error) {
	if count == 1 {
		low, high := f.order.Ranks(first)
		if low == high {
			return f.all[low], nil
		}
		return out, f.x.combineInto(out, f.all[low], f.all[high])
	}
	n, half := len(out), count/2
	high, err := f.runFold(first+half, half, out, work)
	if err != nil {
		return nil, err
	}
	low, err := f.runFold(first, half, work[:n], work[n:])
	if err != nil {
		return nil, err
	}
	return out, f.x.combineInto(out, low, high) // with low as out it might write to high
}
