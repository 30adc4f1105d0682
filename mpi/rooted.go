package mpi

import (
	"github.com/golci/golci/mpi/internal/coll/argument"
)

// Bcast sends buf of rank root to all ranks of c, into their buf, which must be equally long (6.4). It waits, and
// may switch threads. Errors: ErrRoot, ErrType, ErrCount or ErrTruncate where lengths differ, and those of Barrier.
func Bcast[T any](c *Comm, buf []T, root int) error {
	var k argument.Description
	return c.core().Do(sliceCall(&k, argument.KindBcast, "Bcast", nil, buf, root))
}

// Gather collects send of all ranks, equally long, in recv of rank root, by rank (6.5). recv is used at root only and
// must have room for size times len(send) elements. send of root may be InPlace: its part then lies in its place in
// recv, which must be exactly as long as all parts. It waits, and may switch threads. Errors: ErrRoot, ErrType,
// ErrCount, ErrTruncate, ErrBuffer, and those of Barrier.
func Gather[T any](c *Comm, send, recv []T, root int) error {
	var k argument.Description
	return c.core().Do(sliceCall(&k, argument.KindGather, "Gather", send, recv, root))
}

// Gatherv is Gather for parts of different lengths: that of rank i has counts[i] elements and goes to
// recv[displs[i]:] (6.5). counts and displs, in elements, are used at root only; nil displs puts the parts one behind
// the other. send of root may be InPlace. Errors as for Gather.
func Gatherv[T any](c *Comm, send, recv []T, counts, displs []int, root int) error {
	var k argument.Description
	setParts(sliceCall(&k, argument.KindGatherv, "Gatherv", send, recv, root), nil, nil, counts, displs)
	return c.core().Do(&k)
}

// Scatter gives each rank its part of send of rank root, in recv (6.6): rank i gets len(recv) elements from
// send[i*len(recv):]. send is used at root only and must be size times as long as recv, or longer. recv of root may
// be InPlace: its part then stays in send, which must be exactly as long as all parts. It waits, and may switch
// threads. Errors: ErrRoot, ErrType, ErrCount, ErrTruncate, ErrBuffer, and those of Barrier.
func Scatter[T any](c *Comm, send, recv []T, root int) error {
	var k argument.Description
	return c.core().Do(sliceCall(&k, argument.KindScatter, "Scatter", send, recv, root))
}

// Scatterv is Scatter for parts of different lengths: that of rank i has counts[i] elements and comes from
// send[displs[i]:] (6.6); recv of rank i must have counts[i] elements. counts and displs, in elements, are used at
// root only; nil displs has the parts one behind the other. Errors as for Scatter.
func Scatterv[T any](c *Comm, send []T, counts, displs []int, recv []T, root int) error {
	var k argument.Description
	setParts(sliceCall(&k, argument.KindScatterv, "Scatterv", send, recv, root), counts, displs, nil, nil)
	return c.core().Do(&k)
}
