package core

import (
	"sync"

	"github.com/golci/golci/mpi/internal/attr"
)

// attributed are the attributes of a communicator, for the package above.
type attributed struct {
	mu  sync.Mutex // guards what is in the set
	one sync.Once
	set *attr.Set // made at the first call
}

// Attributes are the attributes of c, which make makes at the first call with the lock that it is given.
func (c *Comm) Attributes(make func(l attr.Locker) *attr.Set) *attr.Set {
	a := &c.origin().attrs
	a.one.Do(func() { a.set = make(&a.mu) })
	return a.set
}

// Origin is the communicator that c is a view of, else c.
func (c *Comm) Origin() *Comm { return c.origin() }
