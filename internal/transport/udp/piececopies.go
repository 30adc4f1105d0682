package udp

import "math/bits"

// bulkLoan marks the number of a chunk of a bulkStage among the messages that the core has taken; the others are loans.
const bulkLoan = 1 << 63

// pieceCopies keeps copies of records that travel in pieces, until all of them have arrived. Under engine.
type pieceCopies struct {
	bufs [][]byte
	free []uint64     // numbers
	kept [33][][]byte // buffers not in use, by the logarithm of their size
}

// takeLoan copies rec and returns the copy with its number, which is not 0.
func (l *pieceCopies) takeLoan(rec []byte) ([]byte, uint64) {
	k := bits.Len(uint(len(rec) - 1))
	var b []byte
	if n := len(l.kept[k]); n > 0 {
		b, l.kept[k] = l.kept[k][n-1], l.kept[k][:n-1]
	} else {
		b = make([]byte, 1<<k)
	}
	id := uint64(len(l.bufs))
	if n := len(l.free); n > 0 {
		id, l.free = l.free[n-1], l.free[:n-1]
		l.bufs[id] = b
	} else {
		l.bufs = append(l.bufs, b)
	}
	return b[:copy(b, rec)], id + 1
}

// giveLoan takes a copy back.
func (l *pieceCopies) giveLoan(id uint64) {
	id--
	b := l.bufs[id]
	k := bits.Len(uint(len(b) - 1))
	l.bufs[id] = nil
	l.kept[k] = append(l.kept[k], b)
	l.free = append(l.free, id)
}
