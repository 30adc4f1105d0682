// Package fi is the part of libfabric that golci uses, bound at run time. It is for builds with the tag ofi, on Linux,
// amd64 and arm64; elsewhere it is empty. It knows versions 1.17 to 2.x of the library, by the layouts of 1.17, which
// later versions have only extended. docs/design/ofi.md tells how it copes with that.
//
// Nothing here takes a lock. An object is used by one goroutine at a time, and so are all objects of one domain.
package fi
