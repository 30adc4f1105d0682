// Package dl opens a C library at run time and calls it, without cgo. It is for builds with the tag ofi or pmix, on
// Linux, amd64 and arm64; elsewhere it is empty. docs/design/ofi.md tells how a call is made, and what opening a
// library must not break.
package dl
