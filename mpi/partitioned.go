package mpi

import "fmt"

// PsendInit makes a partitioned send of buf in so many partitions to dest with tag (4.2.1, MPI_Psend_init). Each has
// the same number of elements. The request is persistent: after Start the partitions go when Pready tells that they are
// ready, and a wait finds it done when all have gone. It meets the PrecvInit of the same tag on dest, in the order in
// which they are made. It is local, and does not block. Errors as for Send; ErrArgument for elements that cannot be
// divided; ErrContexts if there are too many partitioned sends to dest.
func PsendInit[T any](c *Comm, buf []T, partitions, dest, tag int) (Request, error) {
	if err := divides("PsendInit", len(buf), partitions); err != nil {
		return Request{}, err
	}
	r, err := c.core().PsendInit("PsendInit", elemOf[T](), bytesOf(buf), partitions, dest, tag)
	return Request(r), err
}

// PrecvInit makes a partitioned receive into buf in so many partitions from source with tag (4.2.1, MPI_Precv_init).
// The sender may have another number of partitions. There are no wildcards. Parrived tells which partitions have come.
// It is local, and does not block. Errors as for PsendInit; ErrTruncate shows when the request is waited for.
func PrecvInit[T any](c *Comm, buf []T, partitions, source, tag int) (Request, error) {
	if err := divides("PrecvInit", len(buf), partitions); err != nil {
		return Request{}, err
	}
	r, err := c.core().PrecvInit("PrecvInit", elemOf[T](), bytesOf(buf), partitions, source, tag)
	return Request(r), err
}

// divides refuses partitions of elements that are not whole.
func divides(what string, elements, partitions int) error {
	if partitions > 0 && elements%partitions != 0 {
		return fmt.Errorf("mpi: %s: %w: %d elements in %d partitions", what, ErrArgument, elements, partitions)
	}
	return nil
}

// Pready tells that a partition of a partitioned send may be sent (4.2.2, MPI_Pready). Its elements must not be changed
// until the request is done. Several threads may call it at once for different partitions. It does not block. Errors:
// ErrRequest for a request that is no partitioned send, or not started; ErrArgument for a partition that there is not,
// or that is ready already.
func (r *Request) Pready(partition int) error { return r.core().Pready("Pready", partition, partition) }

// PreadyRange is Pready for the partitions from first to last (4.2.2, MPI_Pready_range).
func (r *Request) PreadyRange(first, last int) error {
	return r.core().Pready("PreadyRange", first, last)
}

// PreadyList is Pready for several partitions (4.2.2, MPI_Pready_list). After an error those before are ready.
func (r *Request) PreadyList(partitions []int) error {
	for _, i := range partitions {
		if err := r.core().Pready("PreadyList", i, i); err != nil {
			return err
		}
	}
	return nil
}

// Parrived polls once and tells whether a partition of a partitioned receive has come (4.2.2, MPI_Parrived). Its
// elements may then be read. All have come where the request is null or not started. It does not block. Errors:
// ErrRequest for a request that is no partitioned receive; ErrArgument for a partition that there is not.
func (r *Request) Parrived(partition int) (bool, error) {
	return r.core().Parrived("Parrived", partition)
}
