//go:build ofi && linux && (amd64 || arm64)

package ofi

import "github.com/golci/golci/internal/ofi/fi"

// Lacks tells why the conduit cannot be used on this system; nil if the library is there. The first call opens the
// library, which takes long.
func Lacks() error {
	_, err := fi.Load()
	return err
}
