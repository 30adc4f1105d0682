package mpi

// Scatter gives each rank its part of send of rank root, in recv (6.6): rank i gets len(recv) elements from
// send[i*len(recv):]. send is used at root only and must be size times as long as recv, or longer. recv of root may
// be InPlace: its part then stays in send, which must be exactly as long as all parts. It waits, and may switch
// threads. Errors: ErrRoot, ErrType, ErrCount, ErrTruncate, ErrBuffer, and those of Barrier.
func Scatter[T any](c *Comm, send, recv []T, root int) error {
	return blocking(c, "Scatter", send, recv, root, (*coll).scatter)
}

func (x *coll) scatter(root int) error { return x.equalParts(&scattering, root) }

// Scatterv is Scatter for parts of different lengths: that of rank i has counts[i] elements and comes from
// send[displs[i]:] (6.6); recv of rank i must have counts[i] elements. counts and displs, in elements, are used at
// root only; nil displs has the parts one behind the other. Errors as for Scatter.
func Scatterv[T any](c *Comm, send []T, counts, displs []int, recv []T, root int) error {
	return blocking(c, "Scatterv", send, recv, root, func(x *coll, root int) error {
		return x.scatterv(counts, displs, root)
	})
}

func (x *coll) scatterv(counts, displs []int, root int) error {
	return x.givenParts(&scattering, counts, displs, root)
}
