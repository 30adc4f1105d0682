//go:build !linux

package conduit

// grantLimit knows the address space only: this platform does not tell more without leaving Go's standard library.
func grantLimit() limit { return limit{"address space of the machine", 1 << 46} }
