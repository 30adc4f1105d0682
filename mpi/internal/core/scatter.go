package core

// Scatter gives each rank its part of the In of root.
func (x *Call) Scatter(root int) error { return x.equalParts(&scattering, root) }

// Scatterv is Scatter for parts of counts elements from displs; both are used at root only.
func (x *Call) Scatterv(counts, displs []int, root int) error {
	return x.givenParts(&scattering, counts, displs, root)
}
