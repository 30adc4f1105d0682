package reduce

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/golci/golci/realm/internal/space"
)

// A chunk is blocks. A block is its form, the number of its reductions (4 bytes), and points. These are the
// number of the first one (8 bytes), or those of all (4 or 8 bytes each). The values follow as they lie in memory.
const (
	formRow    = 1 // points that follow each other
	formList32 = 2
	formList64 = 3

	headLen = 5
	rowLen  = headLen + 8
)

// minChunk is the smallest buffer for chunks of values of size bytes.
func minChunk(size int) int { return rowLen + 8 + size }

// Encoder turns an instance into chunks. The instance must not change meanwhile.
type Encoder[R any] struct {
	sweep  sweep[R]    // of a Fold
	sheets []*sheet[R] // of a List: what is left of it
	from   int         // in the first of sheets
	width  int         // bytes of the number of a point

	b    []byte // the chunk
	n    int    // reductions that wait in at and vals for a block
	at   [batch]int64
	vals [batch]R
}

func width(p *points) int {
	if p.count <= 1<<32 {
		return 4
	}
	return 8
}

// Encoder starts to encode f.
func (f *Fold[L, R]) Encoder() *Encoder[R] {
	return &Encoder[R]{sweep: f.sweep(), width: width(&f.pts)}
}

// Encoder starts to encode l.
func (l *List[L, R]) Encoder() *Encoder[R] {
	return &Encoder[R]{sheets: l.sheets, width: width(&l.pts)}
}

// Next fills buf, of at least minChunk bytes, with the next chunk and returns it; nothing at the end. Chunks can be
// replayed in any order, but for those of a List whose operator depends on the order.
func (e *Encoder[R]) Next(buf []byte) []byte {
	e.b = buf[:0:len(buf)]
	e.log()
	e.values()
	b := e.b
	e.b = nil
	return b
}

// log writes reductions of the sheets.
func (e *Encoder[R]) log() {
	for len(e.sheets) > 0 {
		s := e.sheets[0]
		n := min(s.n-e.from, e.fitCount())
		e.writeAt(s.at[e.from:][:n], s.vals[e.from:][:n])
		if e.from += n; e.from < s.n {
			return
		}
		e.sheets, e.from = e.sheets[1:], 0
	}
}

// values writes values of the pages: long rows as rows, those between them as a list.
func (e *Encoder[R]) values() {
	for {
		limit := e.fitCount()
		if limit == 0 {
			break
		}
		first, v := e.sweep.nextRow(limit)
		if len(v) == 0 {
			break
		}
		if len(v) >= rowMin {
			e.writeRow(first, v)
			continue
		}
		for k := range v {
			if e.n == batch {
				e.flushWaiting()
			}
			e.at[e.n], e.vals[e.n] = first+int64(k), v[k]
			e.n++
		}
	}
	e.flushWaiting()
}

// fitCount is how many more reductions fit the chunk, whether they become a block or wait for one.
func (e *Encoder[R]) fitCount() int {
	var v R
	each := e.width + int(unsafe.Sizeof(v))
	left := cap(e.b) - len(e.b) - rowLen
	if e.n > 0 {
		left -= headLen + e.n*each
	}
	return max(0, left) / each
}

func (e *Encoder[R]) writeHead(form byte, n int) {
	e.b = append(e.b, form)
	e.b = binary.LittleEndian.AppendUint32(e.b, uint32(n))
}

func (e *Encoder[R]) writeRow(first int64, v []R) {
	e.writeHead(formRow, len(v))
	e.b = binary.LittleEndian.AppendUint64(e.b, uint64(first))
	e.b = append(e.b, bytesOf(v)...)
}

func (e *Encoder[R]) flushWaiting() {
	e.writeAt(e.at[:e.n], e.vals[:e.n])
	e.n = 0
}

// writeAt writes a block of reductions into the points at.
func (e *Encoder[R]) writeAt(at []int64, v []R) {
	switch {
	case len(at) == 0:
		return
	case e.width == 8:
		e.writeHead(formList64, len(at))
		e.b = append(e.b, bytesOf(at)...)
	default:
		e.writeHead(formList32, len(at))
		for _, n := range at {
			e.b = binary.LittleEndian.AppendUint32(e.b, uint32(n))
		}
	}
	e.b = append(e.b, bytesOf(v)...)
}

// Replay applies the reductions of a chunk to t. Any bytes do that or give errWire, or errIndex for a point that the
// space of t does not have; blocks before the fault have been applied then.
func (t *Target[L, R]) Replay(chunk []byte) error {
	for len(chunk) > 0 {
		if len(chunk) < headLen {
			return fmt.Errorf("%w: %d bytes left", errWire, len(chunk))
		}
		form, n := chunk[0], int64(binary.LittleEndian.Uint32(chunk[1:]))
		numbers := int64(8)
		switch form {
		case formRow:
		case formList32:
			numbers = 4 * n
		case formList64:
			numbers = 8 * n
		default:
			return fmt.Errorf("%w: block of form %d", errWire, form)
		}
		var v R
		values := n * int64(unsafe.Sizeof(v))
		if chunk = chunk[headLen:]; numbers+values > int64(len(chunk)) {
			return fmt.Errorf("%w: block of %d reductions in %d bytes", errWire, n, len(chunk))
		}
		if err := t.block(form, n, chunk[:numbers], chunk[numbers:][:values]); err != nil {
			return err
		}
		chunk = chunk[numbers+values:]
	}
	return nil
}

// block applies n reductions.
func (t *Target[L, R]) block(form byte, n int64, numbers, values []byte) error {
	count := uint64(t.track.Count())
	if form == formRow {
		if first := binary.LittleEndian.Uint64(numbers); first > count || uint64(n) > count-first {
			return fmt.Errorf("%w: %d points from number %d on, there are %d", errIndex, n, first, count)
		}
	}
	for i := int64(0); i < n; i += batch {
		m := min(batch, n-i)
		v := t.vals[:m]
		values = values[copy(bytesOf(v), values):]
		if form == formRow {
			t.applyPoints(int64(binary.LittleEndian.Uint64(numbers))+i, v)
			continue
		}
		if at, ok := t.takeNumbers(form, numbers, i, m, count); !ok {
			return fmt.Errorf("%w: point number %d, there are %d", errIndex, at, count)
		}
		t.applyEach(t.at[:m], v)
	}
	return nil
}

// takeNumbers sets t.at to m numbers from the i-th on; false, and the first of them, if one is not below count.
func (t *Target[L, R]) takeNumbers(form byte, numbers []byte, i, m int64, count uint64) (uint64, bool) {
	for k := range m {
		var n uint64
		if form == formList32 {
			n = uint64(binary.LittleEndian.Uint32(numbers[4*(i+k):]))
		} else {
			n = binary.LittleEndian.Uint64(numbers[8*(i+k):])
		}
		if n >= count {
			return n, false
		}
		t.at[k] = int64(n)
	}
	return 0, true
}

// Instance is a Fold or a List, whatever its types.
type Instance interface {
	OpName() string
	Operator() any // the *Op
	Space() space.Space
	Chunks() Chunker
	Ordered() bool // chunks are to be replayed in their order
}

// Chunker gives chunks, as an Encoder does.
type Chunker interface {
	Next(buf []byte) []byte
	Least() int
}

// Least is the smallest buffer for Next.
func (e *Encoder[R]) Least() int {
	var v R
	return minChunk(int(unsafe.Sizeof(v)))
}

// OpName is the name of the operator.
func (f *Fold[L, R]) OpName() string {
	if f == nil || f.op == nil {
		return ""
	}
	return f.op.Name
}

// Operator is the *Op[L, R].
func (f *Fold[L, R]) Operator() any {
	if f == nil {
		return nil
	}
	return f.op
}

// Space is the points that are reduced into.
func (f *Fold[L, R]) Space() space.Space { return f.pts.space }

// Chunks implements Instance.
func (f *Fold[L, R]) Chunks() Chunker { return f.Encoder() }

// Ordered implements Instance.
func (f *Fold[L, R]) Ordered() bool { return false }

// OpName is the name of the operator.
func (l *List[L, R]) OpName() string {
	if l == nil || l.op == nil {
		return ""
	}
	return l.op.Name
}

// Operator is the *Op[L, R].
func (l *List[L, R]) Operator() any {
	if l == nil {
		return nil
	}
	return l.op
}

// Space is the points that are reduced into.
func (l *List[L, R]) Space() space.Space { return l.pts.space }

// Chunks implements Instance.
func (l *List[L, R]) Chunks() Chunker { return l.Encoder() }

// Ordered implements Instance.
func (l *List[L, R]) Ordered() bool { return true }
