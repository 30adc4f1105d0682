package core

import (
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/signature"
)

// checked tells whether a rank checks types. Ranks of one process do, unless told otherwise.
func checked(set *settings.Set, inProcess bool) bool {
	switch settings.Check.Get(set) {
	case "types":
		return true
	case "off":
		return false
	}
	return inProcess
}

// signature is what messages of elements e are compared by, 0 where types are not checked.
func (c *Comm) signature(e *signature.Elem) uint64 {
	if !c.checked || e.Err() != nil {
		return 0
	}
	return e.Signature()
}

// signatureOf is what messages of elements of b are compared by, 0 where types are not checked.
func (c *Comm) signatureOf(b *Buf) uint64 {
	switch {
	case !c.checked:
		return 0
	case b.Of != nil:
		return b.Of.Signature()
	case b.T == nil:
		return signature.Elems[dtype.Byte].Signature()
	}
	return signature.ElemOf(b.T).Signature()
}
