//go:build unix

package launch

import (
	"bytes"
	"io"
	"slices"
	"sync"
)

// maxLine is how much of a line without an end is kept before it is written out in parts.
const maxLine = 16 << 20

// keepLine is the memory for the beginning of a line that is kept between lines.
const keepLine = 64 << 10

// shared lets several writers use one stream, a whole write at a time.
type shared struct {
	mu sync.Mutex
	w  io.Writer // guarded by mu
}

func (s *shared) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(b)
}

// prefixer puts a prefix before every line, and writes whole lines only. One goroutine uses it, and flushes at the end.
type prefixer struct {
	out    *shared
	prefix string
	rest   []byte // the beginning of a line whose end has not come
}

func (p *prefixer) Write(b []byte) (int, error) {
	n := len(b)
	p.rest = append(p.rest, b...)
	end := 0
	if i := bytes.LastIndexByte(b, '\n'); i >= 0 { // the rest has no end, or it had been written
		end = len(p.rest) - len(b) + i + 1
	}
	if end == 0 && len(p.rest) < maxLine {
		return n, nil
	}
	if end == 0 {
		return n, p.flushLine()
	}
	err := p.emitLines(p.rest[:end])
	p.rest = append(p.rest[:0], p.rest[end:]...)
	if cap(p.rest) > keepLine && len(p.rest) < keepLine {
		p.rest = slices.Clone(p.rest) // a long line was an exception
	}
	return n, err
}

// flushLine writes a last line that has no end, and ends it.
func (p *prefixer) flushLine() error {
	if len(p.rest) == 0 {
		return nil
	}
	err := p.emitLines(append(p.rest, '\n'))
	p.rest = nil
	return err
}

func (p *prefixer) emitLines(lines []byte) error {
	var out []byte
	for line := range bytes.Lines(lines) {
		out = append(append(out, p.prefix...), line...)
	}
	_, err := p.out.Write(out)
	return err
}
