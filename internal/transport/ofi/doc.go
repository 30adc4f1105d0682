// Package ofi is the conduit over libfabric: fabrics of clusters, and TCP. It is for builds with the tag ofi, on Linux,
// amd64 and arm64; elsewhere it has its name only. docs/design/ofi.md tells how it works.
//
// A record is written into a slot of memory that the library knows, and sent from there. It arrives in one receive pool
// that all peers share, and is delivered in place. Bulk data travel as longer messages. Remote is reads and writes of
// registered memory.
//
// One lock, Conduit.mu, is held for each call of the library and guards what the conduit keeps. Sinks and completions
// are called without it. Whoever polls holds Conduit.polling.
package ofi

import "errors"

// Name is what GOLCI_CONDUIT and Caps call this conduit.
const Name = "ofi"

// ErrNotBuilt means that this program has been built without the conduit.
var ErrNotBuilt = errors.New("built without libfabric; build it with -tags ofi, for Linux, amd64 or arm64")
