package win

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	"github.com/golci/golci/am/rma"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/op"
)

// A program is an access that its target carries out: one operation for each element of some runs of memory. On the
// wire it is, in little-endian order:
//
//	code, 1 byte · 1 if the old elements are wanted, 1 byte · basic, 2 bytes · number of runs, 4 bytes
//	for each run: offset in the region, 8 bytes · number of elements, 8 bytes
//	the elements at the origin, an extent apart, in the order of bytes of the ranks
//
// The answer has the old elements, an extent apart.

// code is what is done with each element. Codes from the operations of package op on are those.
type code uint8

const (
	codePut  code = iota + 1
	codeGet       // without elements of the origin
	codeSwap      // compare and swap: one run of one element; two of the origin: what is expected, and what is new
)

// run is some elements one behind the other.
type run struct {
	off int64 // in the region
	n   int64 // elements
}

type program struct {
	code  code
	fetch bool // the old elements are wanted
	basic dtype.Basic
	runs  []run
	data  []byte // elements of the origin
}

const (
	programHead = 8
	runHead     = 16
)

// stride is the distance of elements of a basic in bytes, and size how many the last one has.
func stride(b dtype.Basic) (apart, size int64) {
	t := dtype.Named(b)
	_, apart = t.Bounds()
	_, size = t.TrueBounds()
	return apart, size
}

// answers tells whether the target sends old elements.
func (p *program) answers() bool { return p.fetch || p.code == codeGet || p.code == codeSwap }

// appendTo adds the program to a request.
func (p *program) appendTo(b []byte) []byte {
	fetch := byte(0)
	if p.answers() {
		fetch = 1
	}
	b = append(b, byte(p.code), fetch)
	b = binary.LittleEndian.AppendUint16(b, uint16(p.basic))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(p.runs)))
	for _, r := range p.runs {
		b = binary.LittleEndian.AppendUint64(b, uint64(r.off))
		b = binary.LittleEndian.AppendUint64(b, uint64(r.n))
	}
	return append(b, p.data...)
}

// sendProgram makes the target carry p out, in pieces that fit into records. dst gets the old elements.
func (c *call) sendProgram(p program, dst []byte) error {
	m := c.w.s.m
	most, answer := m.MaxUpdate()
	apart, _ := stride(p.basic)
	for len(p.runs) > 0 {
		piece, n := p.cutFirst(int64(most), int64(answer), apart)
		if n == 0 {
			return fmt.Errorf("%w: an element of %d bytes in records of %d", errs.Intern, apart, most)
		}
		var old []byte
		if p.answers() {
			old, dst = dst[:n*apart:n*apart], dst[n*apart:]
		}
		h, err := m.UpdateNB(c.world, c.region, piece.appendTo(nil), old)
		if err != nil {
			return err
		}
		c.hs = append(c.hs, h)
	}
	return nil
}

// cutFirst takes the first n elements off p, such that request and answer are not too long.
func (p *program) cutFirst(most, answer, apart int64) (piece program, n int64) {
	piece = program{code: p.code, fetch: p.fetch, basic: p.basic}
	each := apart // bytes of an element in the request
	if p.code == codeGet || p.code == code(op.NoOp) {
		each = 0
	}
	if p.code == codeSwap {
		each = 2 * apart
	}
	room := most - programHead
	for len(p.runs) > 0 {
		r := &p.runs[0]
		take := r.n
		if room -= runHead; each > 0 {
			take = min(take, room/each)
		}
		if p.answers() {
			take = min(take, answer/apart-n)
		}
		if room < 0 || take <= 0 {
			break
		}
		piece.runs = append(piece.runs, run{r.off, take})
		n, room = n+take, room-take*each
		if take == r.n {
			p.runs = p.runs[1:]
			continue
		}
		r.off, r.n = r.off+take*apart, r.n-take
		break
	}
	if each > 0 {
		piece.data, p.data = p.data[:n*each], p.data[n*each:]
	}
	return piece, n
}

// byteRuns are the bytes of n elements of a type, the first one at.
func byteRuns(t *dtype.Type, n, at int64) (runs []run) {
	dtype.Walk(t, n, func(b dtype.Basic, off, count int64) bool {
		off, count = at+off, count*dtype.Named(b).Size()
		if k := len(runs) - 1; k >= 0 && runs[k].off+runs[k].n == off {
			runs[k].n += count
		} else if count > 0 {
			runs = append(runs, run{off, count})
		}
		return true
	})
	return runs
}

// elementRuns are the elements of n elements of a type, the first one at. All must be of one basic: errs.Type.
func elementRuns(t *dtype.Type, n, at int64) (basic dtype.Basic, runs []run, err error) {
	dtype.WalkNamed(t, n, func(b dtype.Basic, off, count int64) bool {
		if basic != 0 && b != basic {
			err = fmt.Errorf("%w: a target with elements of %v and %v", errs.Type, basic, b)
			return false
		}
		basic, off = b, at+off
		apart, _ := stride(b)
		if k := len(runs) - 1; k >= 0 && runs[k].off+runs[k].n*apart == off {
			runs[k].n += count
		} else if count > 0 {
			runs = append(runs, run{off, count})
		}
		return true
	})
	return basic, runs, err
}

// carryOut is the rma.Updater of all windows.
func carryOut(at rma.PieceFunc, request, reply []byte) ([]byte, bool) {
	if len(request) < programHead {
		return nil, false
	}
	p := program{
		code: code(request[0]), fetch: request[1] == 1,
		basic: dtype.Basic(binary.LittleEndian.Uint16(request[2:])),
	}
	n := int(binary.LittleEndian.Uint32(request[4:]))
	if request = request[programHead:]; n < 0 || n > len(request)/runHead || dtype.Named(p.basic) == nil {
		return nil, false
	}
	f, ok := p.operation()
	if !ok {
		return nil, false
	}
	p.data = request[n*runHead:]
	apart, size := stride(p.basic)
	for i := range n {
		r := run{
			int64(binary.LittleEndian.Uint64(request[i*runHead:])),
			int64(binary.LittleEndian.Uint64(request[i*runHead+8:])),
		}
		if r.n <= 0 || r.n > maxRun || apart <= 0 {
			return nil, false
		}
		mem := at(r.off, int((r.n-1)*apart+size))
		if mem == nil {
			return nil, false
		}
		if p.fetch {
			if int64(cap(reply)-len(reply)) < r.n*apart {
				return nil, false
			}
			end := len(reply) + int(r.n*apart)
			reply = append(reply, mem...)[:end]
		}
		used, ok := f(mem, p.data, r.n, apart)
		if !ok {
			return nil, false
		}
		p.data = p.data[used:]
	}
	return reply, true
}

// maxRun is more elements than a record has.
const maxRun = 1 << 32

// step works on n elements of memory with data of the origin, and tells how much of that it has used. !ok: that is too
// short.
type step func(mem, data []byte, n, apart int64) (used int64, ok bool)

// operation is what a program does with its elements; false if there is no such thing.
func (p *program) operation() (step, bool) {
	switch p.code {
	case codeGet, code(op.NoOp):
		return func(_, _ []byte, _, _ int64) (int64, bool) { return 0, true }, true
	case codePut:
		return func(mem, data []byte, n, apart int64) (int64, bool) {
			if int64(len(data)) < n*apart {
				return 0, false
			}
			copy(mem, data)
			return n * apart, true
		}, true
	case codeSwap:
		return swap, true
	}
	f, ok := op.Lookup(op.ID(p.code), p.basic)
	return func(mem, data []byte, n, apart int64) (int64, bool) {
		if int64(len(data)) < n*apart {
			return 0, false
		}
		to := unsafe.Pointer(&mem[0])
		f(to, to, unsafe.Pointer(&data[0]), n)
		return n * apart, true
	}, ok
}

// swap compares and swaps one element.
func swap(mem, data []byte, n, apart int64) (int64, bool) {
	if n != 1 || int64(len(data)) < 2*apart {
		return 0, false
	}
	if slices.Equal(mem, data[:len(mem)]) {
		copy(mem, data[apart:])
	}
	return 2 * apart, true
}
