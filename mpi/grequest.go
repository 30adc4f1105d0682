package mpi

import "github.com/golci/golci/mpi/internal/core"

// Grequest has the functions of a generalized request (13.2). Each may be nil. A wait, a test or GetStatus that finds
// the request done calls Query for its status and its error. Free is called once, when the request has become null.
// Cancel is called by Request.Cancel, and told whether the operation has ended.
type Grequest struct {
	Query  func() (Status, error)
	Free   func() error
	Cancel func(complete bool) error
}

// NewStatus is the status of an operation of the program (3.2.5, MPI_Status_set_elements and its like).
func NewStatus(source, tag int, bytes int64, cancelled bool) Status {
	return Status{Source: source, Tag: tag, bytes: bytes, cancelled: cancelled}
}

// Grequest makes a generalized request: an operation of the program, which ends it with Request.Complete (13.2,
// MPI_Grequest_start). It is active at once, and does what other requests do. It does not block.
func (p *Proc) Grequest(g Grequest) Request {
	f := core.Grequest{Free: g.Free, Cancel: g.Cancel}
	if g.Query != nil {
		f.Query = func() (core.Status, error) {
			st, err := g.Query()
			return core.Status{Source: st.Source, Tag: st.Tag, Bytes: st.bytes, Cancelled: st.cancelled}, err
		}
	}
	return Request(p.core().StartGeneral(f))
}

// Complete ends the operation of a generalized request (13.2, MPI_Grequest_complete). It may be called of a copy, while
// another thread waits for the request, and after Free. It does not block. Errors: ErrRequest for a request that is not
// generalized, or is complete already, and what the function Free returns for one that has been freed.
func (r *Request) Complete() error { return r.core().Complete("Complete") }
