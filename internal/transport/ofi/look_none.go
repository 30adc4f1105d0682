//go:build !ofi || !linux || !(amd64 || arm64)

package ofi

// Look tells why the conduit cannot be used: it is not part of this program.
func Look(provider, domain string) (way string, err error) { return "", ErrNotBuilt }
