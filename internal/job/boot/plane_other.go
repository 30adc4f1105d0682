//go:build !linux

package boot

import (
	"context"
	"net/netip"
)

// Plane carries small messages between the ranks of a job beside the conduit. It is not there on this system.
type Plane struct{}

// OpenPlane gives ErrNoPlane.
func (j *Job) OpenPlane(func(from int, b []byte), ...netip.Addr) (*Plane, error) {
	return nil, ErrNoPlane
}

// Send gives ErrNoPlane.
func (p *Plane) Send(context.Context, int, []byte) error { return ErrNoPlane }

// Gone is false.
func (p *Plane) Gone(int) bool { return false }

// Watch returns at once.
func (p *Plane) Watch(context.Context, func(rank int) bool, func(rank int)) {}

// Close does nothing.
func (p *Plane) Close() error { return nil }
