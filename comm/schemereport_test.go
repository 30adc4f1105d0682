package comm

import (
	"slices"
	"testing"
)

// TestSchemes: the report names peer, size and traffic, the way and what the others cost.
func TestSchemes(t *testing.T) {
	s := new(Server)
	if lines := s.Schemes(); len(lines) != 0 {
		t.Errorf("without large messages: %q", lines)
	}
	p := s.pathsOf(3)
	const n = 100 << 10
	p.classFor(bothWays, sizeClassOf(n))
	c := p.classFor(alone, sizeClassOf(n))
	for range 3 {
		c.picker.Note(0, 3)
		c.picker.Note(1, 2)
	}
	s.pathsOf(1).classFor(oneWay, sizeClasses-1)
	want := []string{
		"large messages, rank 1, over 2048 KiB: halves, get not measured, stream not measured",
		"large messages, rank 3, up to 128 KiB, both ways: get, stream not measured",
		"large messages, rank 3, up to 128 KiB, into buffers of the receiver alone: stream, get takes 1.50 times as long",
	}
	if lines := s.Schemes(); !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
}
