// Package nettest has what tests of several packages need of a network.
package nettest

import (
	"net"
	"testing"
)

// FreePort is an address of this machine, with a port, at which nobody listens now. Somebody else may take it.
func FreePort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}
