package win

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/op"
)

// FuzzCarryOut: a program that a peer has sent changes only elements that it names, and reads nothing beyond them. What
// is well formed has the effect that its description says, and nothing else is carried out to its end.
func FuzzCarryOut(f *testing.F) {
	addPrograms(f)
	f.Fuzz(func(t *testing.T, request []byte, room uint8) {
		mem, reply := newExposed(256), newExposed(int(room))
		was, wasReply := bytes.Clone(mem), bytes.Clone(reply)
		sent := bytes.Clone(request)
		answer, ok := carryOut(mem.piece, request, reply.inside()[:0])

		want := model{region: exposed(bytes.Clone(mem)), room: int(room)}
		copy(want.region, was)
		fits := want.run(sent)
		if ok != fits {
			t.Fatalf("carried out: %v, want %v", ok, fits)
		}
		if !bytes.Equal(request, sent) {
			t.Error("the request has changed")
		}
		if !reply.guarded(wasReply) || len(answer) > int(room) {
			t.Errorf("an answer of %d bytes in %d, or beside them", len(answer), room)
		}
		if !mem.guarded(was) {
			t.Error("memory outside of the region has changed")
		}
		want.compare(t, mem, was, answer, ok)
		stillWorks(t, mem)
	})
}

// addPrograms adds programs of each code for types of each form, and some that are wrong.
func addPrograms(f *testing.F) {
	basics := []dtype.Basic{dtype.Byte, dtype.Int64, dtype.Double, dtype.DoubleInt, dtype.ShortInt, dtype.Packed}
	codes := []code{
		codePut, codeGet, codeSwap, code(op.Replace), code(op.NoOp), code(op.Sum), code(op.Band), code(op.MaxLoc),
		0, 255,
	}
	for _, c := range codes {
		for _, b := range basics {
			apart, size := stride(b)
			p := program{code: c, fetch: true, basic: b, data: make([]byte, 4*apart)}
			p.runs = []run{{3, 1}, {256 - size, 1}}
			f.Add(p.appendTo(nil), uint8(2*apart))
			f.Add(p.appendTo(nil), uint8(2*apart-1))
			p.runs, p.data = []run{{0, 2}}, p.data[:2*apart]
			f.Add(p.appendTo(nil), uint8(2*apart))
			p.data = p.data[:2*apart-1]
			f.Add(p.appendTo(nil), uint8(2*apart))
			p.runs[0].off = 257 - size - apart
			f.Add(p.appendTo(nil), uint8(2*apart))
		}
	}
	for _, r := range []run{{-1, 1}, {255, 2}, {0, 0}, {0, -1}, {0, maxRun}, {0, maxRun + 1}, {1 << 62, 1}, {256, 1}} {
		p := program{code: codePut, basic: dtype.Byte, runs: []run{{0, 1}, r}, data: make([]byte, 8)}
		f.Add(p.appendTo(nil), uint8(0))
	}
	f.Add([]byte{byte(codePut), 1, 0, 0, 255, 255, 255, 255, 1, 2, 3}, uint8(9))
	f.Add([]byte{1, 2, 3}, uint8(0))
}

// stillWorks: what was asked for before does not keep a further program from its work.
func stillWorks(t *testing.T, mem exposed) {
	put := program{code: codePut, basic: dtype.Int64, runs: []run{{8, 1}}, data: []byte("all well")}
	get := program{code: codeGet, basic: dtype.Byte, runs: []run{{8, 8}}}
	_, ok := carryOut(mem.piece, put.appendTo(nil), nil)
	answer, also := carryOut(mem.piece, get.appendTo(nil), make([]byte, 0, 8))
	if !ok || !also || string(answer) != "all well" {
		t.Errorf("put %v, got %v %q", ok, also, answer)
	}
}

// exposed is memory of which all is within reach but guards on both sides.
type exposed []byte

// guard is longer than an element of any type.
const guard = 64

// newExposed has bytes that differ from their neighbours.
func newExposed(n int) exposed {
	x := make(exposed, n+2*guard)
	for i := range x {
		x[i] = byte(i*7 + 1)
	}
	return x
}

// inside is what is within reach.
func (x exposed) inside() []byte { return x[guard : len(x)-guard : len(x)-guard] }

// piece is the rma.PieceFunc of what is within reach.
func (x exposed) piece(off int64, n int) []byte {
	mem := x.inside()
	if off < 0 || n < 0 || off > int64(len(mem)) || int64(n) > int64(len(mem))-off {
		return nil
	}
	return mem[off:][:n:n]
}

// guarded reports whether the guards are as before.
func (x exposed) guarded(before []byte) bool {
	end := len(x) - guard
	return bytes.Equal(x[:guard], before[:guard]) && bytes.Equal(x[end:], before[end:])
}

// model carries a program out element by element, by the description of its form.
type model struct {
	region exposed
	room   int // of the answer
	answer []byte
	named  []bool // by byte of the region: a run that lies in it has named it

	code        byte
	fetch       bool
	basic       dtype.Basic
	apart, size int64 // of elements
	data        []byte
}

// run reports whether all of a request can be carried out.
func (m *model) run(request []byte) bool {
	m.named = make([]bool, len(m.region.inside()))
	le := binary.LittleEndian
	if len(request) < 8 {
		return false
	}
	m.code, m.fetch, m.basic = request[0], request[1] == 1, dtype.Basic(le.Uint16(request[2:]))
	runs, rest := uint64(le.Uint32(request[4:])), request[8:]
	if runs*16 > uint64(len(rest)) || dtype.Named(m.basic) == nil || !m.known() {
		return false
	}
	m.apart, m.size = stride(m.basic)
	m.data = rest[runs*16:]
	for range runs {
		if !m.elements(int64(le.Uint64(rest)), int64(le.Uint64(rest[8:]))) {
			return false
		}
		rest = rest[16:]
	}
	return true
}

// known reports whether the code is one for elements of that type.
func (m *model) known() bool {
	switch m.code {
	case byte(codePut), byte(codeGet), byte(codeSwap), byte(op.NoOp):
		return true
	}
	_, ok := op.Lookup(op.ID(m.code), m.basic)
	return ok
}

// elements works on those of one run.
func (m *model) elements(off, n int64) bool {
	if n <= 0 || n > int64(len(m.named)) || m.region.piece(off, int((n-1)*m.apart+m.size)) == nil {
		return false
	}
	for i := range (n-1)*m.apart + m.size {
		m.named[off+i] = true
	}
	if m.fetch && int64(m.room-len(m.answer)) < n*m.apart {
		return false
	}
	for i := range n {
		mem := m.region[guard+off+i*m.apart:][:m.apart] // its end may be in the guard
		if m.fetch {
			m.answer = append(m.answer, mem...)
		}
		if !m.element(mem) {
			return false
		}
	}
	return m.code != byte(codeSwap) || n == 1
}

// element works on one.
func (m *model) element(mem []byte) bool {
	need := m.apart
	switch m.code {
	case byte(codeGet), byte(op.NoOp):
		return true
	case byte(codeSwap):
		need *= 2
	}
	if int64(len(m.data)) < need {
		return false
	}
	switch m.code {
	case byte(codePut), byte(op.Replace):
		copy(mem, m.data)
	case byte(codeSwap):
		if bytes.Equal(mem, m.data[:m.apart]) {
			copy(mem, m.data[m.apart:])
		}
	}
	m.data = m.data[need:]
	return true
}

// exact reports whether the model knows each byte: it does not add or compare, nor know what becomes of holes in
// elements and between them.
func (m *model) exact() bool {
	switch m.code {
	case byte(codePut), byte(op.Replace), byte(codeSwap), byte(codeGet), byte(op.NoOp):
		return dtype.Named(m.basic).Dense()
	}
	return false
}

// compare fails the test if memory or answer are not what the program means.
func (m *model) compare(t *testing.T, mem, was exposed, answer []byte, ok bool) {
	for i, named := range m.named {
		if got := mem.inside()[i]; !named && got != was.inside()[i] {
			t.Fatalf("byte %d of the region is %d, was %d, and nothing names it", i, got, was.inside()[i])
		}
	}
	if !ok || !m.exact() {
		return
	}
	if !bytes.Equal(mem, m.region) {
		t.Errorf("memory\n%v, want\n%v", mem, m.region)
	}
	if !bytes.Equal(answer, m.answer) {
		t.Errorf("answer\n%v, want\n%v", answer, m.answer)
	}
}
