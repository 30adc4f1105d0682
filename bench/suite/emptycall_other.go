//go:build !unix

package suite

import "os"

// emptyCall is a call of the system that does nothing.
func emptyCall() error {
	_ = os.Getpid()
	return nil
}
