//go:build !linux

package crossing

import "errors"

// Shared is a page of lines that two processes map; this system has none without a name.
type Shared struct{}

var errNoShared = errors.New("crossing: no unnamed shared memory on this system")

// Create fails here.
func Create() (*Shared, error) { return nil, errNoShared }

// Attach fails here.
func Attach(int, int) (*Shared, error) { return nil, errNoShared }

// FD is -1.
func (s *Shared) FD() int { return -1 }

// Lines is nil.
func (s *Shared) Lines() *Lines { return nil }

// Close does nothing.
func (s *Shared) Close() error { return nil }
