package mpi

import "github.com/golci/golci/mpi/internal/core"

// Persistent collectives (6.13). All ranks of the communicator make them in the same order. Each start, by
// Request.Start or StartAll, is a collective that does not wait. Starts may come in any order: a request has a message
// space of its own. To make it takes a Dup, so these functions wait, and may switch threads; errors are those of Dup.
// Errors of the arguments come with the start, as for the form that does not wait. The slices belong to the request
// until it is freed.

// makePersistent makes a persistent request for what startCall does.
func makePersistent(c *Comm, what string, start func(own *Comm) (Request, error)) (Request, error) {
	r, err := c.core().Lasting(what, func(own *core.Comm) (core.Request, error) {
		r, err := start((*Comm)(own))
		return core.Request(r), err
	})
	return Request(r), err
}

// BarrierInit makes a persistent request for a Barrier (6.13.1).
func (c *Comm) BarrierInit() (Request, error) {
	return makePersistent(c, "BarrierInit", (*Comm).Ibarrier)
}

// BcastInit makes a persistent request for a Bcast (6.13.2).
func BcastInit[T any](c *Comm, buf []T, root int) (Request, error) {
	return makePersistent(c, "BcastInit", func(own *Comm) (Request, error) { return Ibcast(own, buf, root) })
}

// GatherInit makes a persistent request for a Gather (6.13.3).
func GatherInit[T any](c *Comm, send, recv []T, root int) (Request, error) {
	return makePersistent(c, "GatherInit", func(own *Comm) (Request, error) { return Igather(own, send, recv, root) })
}

// GathervInit makes a persistent request for a Gatherv (6.13.3).
func GathervInit[T any](c *Comm, send, recv []T, counts, displs []int, root int) (Request, error) {
	return makePersistent(c, "GathervInit", func(own *Comm) (Request, error) {
		return Igatherv(own, send, recv, counts, displs, root)
	})
}

// ScatterInit makes a persistent request for a Scatter (6.13.4).
func ScatterInit[T any](c *Comm, send, recv []T, root int) (Request, error) {
	return makePersistent(c, "ScatterInit", func(own *Comm) (Request, error) { return Iscatter(own, send, recv, root) })
}

// ScattervInit makes a persistent request for a Scatterv (6.13.4).
func ScattervInit[T any](c *Comm, send []T, counts, displs []int, recv []T, root int) (Request, error) {
	return makePersistent(c, "ScattervInit", func(own *Comm) (Request, error) {
		return Iscatterv(own, send, counts, displs, recv, root)
	})
}

// AllgatherInit makes a persistent request for an Allgather (6.13.5).
func AllgatherInit[T any](c *Comm, send, recv []T) (Request, error) {
	return makePersistent(c, "AllgatherInit", func(own *Comm) (Request, error) { return Iallgather(own, send, recv) })
}

// AllgathervInit makes a persistent request for an Allgatherv (6.13.5).
func AllgathervInit[T any](c *Comm, send, recv []T, counts, displs []int) (Request, error) {
	return makePersistent(c, "AllgathervInit", func(own *Comm) (Request, error) {
		return Iallgatherv(own, send, recv, counts, displs)
	})
}

// AlltoallInit makes a persistent request for an Alltoall (6.13.6).
func AlltoallInit[T any](c *Comm, send, recv []T) (Request, error) {
	return makePersistent(c, "AlltoallInit", func(own *Comm) (Request, error) { return Ialltoall(own, send, recv) })
}

// AlltoallvInit makes a persistent request for an Alltoallv (6.13.6).
func AlltoallvInit[T any](
	c *Comm, send []T, scounts, sdispls []int, recv []T, rcounts, rdispls []int,
) (Request, error) {
	return makePersistent(c, "AlltoallvInit", func(own *Comm) (Request, error) {
		return Ialltoallv(own, send, scounts, sdispls, recv, rcounts, rdispls)
	})
}

// ReduceInit makes a persistent request for a Reduce (6.13.7).
func ReduceInit[T any](c *Comm, send, recv []T, op Op[T], root int) (Request, error) {
	return makePersistent(c, "ReduceInit", func(own *Comm) (Request, error) { return Ireduce(own, send, recv, op, root) })
}

// AllreduceInit makes a persistent request for an Allreduce (6.13.8).
func AllreduceInit[T any](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	return makePersistent(c, "AllreduceInit", func(own *Comm) (Request, error) { return Iallreduce(own, send, recv, op) })
}

// ReduceScatterBlockInit makes a persistent request for a ReduceScatterBlock (6.13.9).
func ReduceScatterBlockInit[T any](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	return makePersistent(c, "ReduceScatterBlockInit", func(own *Comm) (Request, error) {
		return IreduceScatterBlock(own, send, recv, op)
	})
}

// ReduceScatterInit makes a persistent request for a ReduceScatter (6.13.10).
func ReduceScatterInit[T any](c *Comm, send, recv []T, counts []int, op Op[T]) (Request, error) {
	return makePersistent(c, "ReduceScatterInit", func(own *Comm) (Request, error) {
		return IreduceScatter(own, send, recv, counts, op)
	})
}

// ScanInit makes a persistent request for a Scan (6.13.11).
func ScanInit[T any](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	return makePersistent(c, "ScanInit", func(own *Comm) (Request, error) { return Iscan(own, send, recv, op) })
}

// ExscanInit makes a persistent request for an Exscan (6.13.12).
func ExscanInit[T any](c *Comm, send, recv []T, op Op[T]) (Request, error) {
	return makePersistent(c, "ExscanInit", func(own *Comm) (Request, error) { return Iexscan(own, send, recv, op) })
}

// AlltoallwInit makes a persistent request for an Alltoallw (6.13.6).
func AlltoallwInit(c *Comm, send, recv []Part) (Request, error) {
	return makePersistent(c, "AlltoallwInit", func(own *Comm) (Request, error) { return Ialltoallw(own, send, recv) })
}
