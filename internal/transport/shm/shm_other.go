//go:build !linux

package shm

import "github.com/golci/golci/conduit"

// New returns errUnsupported: this platform has neither memfds nor abstract sockets.
func New(cfg Config) (conduit.Conduit, error) {
	if err := cfg.checkConfig(); err != nil {
		return nil, err
	}
	return nil, errUnsupported
}

// Lacks tells what this system has not that the conduit needs.
func Lacks() error { return errUnsupported }
