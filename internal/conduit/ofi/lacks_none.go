//go:build !ofi || !linux || !(amd64 || arm64)

package ofi

// Lacks tells why the conduit cannot be used: it is not part of this program.
func Lacks() error { return ErrNotBuilt }
