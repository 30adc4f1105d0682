//go:build amd64 || arm64

package fult

import "unsafe"

// isG tells whether *p is the identity of the calling goroutine (arch.G). *p may change meanwhile. Only goroutines of
// its owner store their own identities there, and each sees its own stores. So the answer is always right. It is in
// assembly because the race detector would report a race.
//
//go:noescape
func isG(p *uintptr) bool

// peek loads *p while its owner may store to it. For diagnosis only.
//
//go:noescape
func peek(p *uintptr) uintptr

// peek64 is peek for a word of bits.
func peek64(p *uint64) uint64 { return uint64(peek((*uintptr)(unsafe.Pointer(p)))) }
