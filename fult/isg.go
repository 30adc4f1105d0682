//go:build amd64 || arm64

package fult

import "unsafe"

// isG says whether *p is the identity of the calling goroutine (arch.G). *p may change meanwhile: only its owner's
// goroutines store their own identity there, and each sees its own stores, so the answer is right in any case. In
// assembly because the race detector would take it for a race.
//
//go:noescape
func isG(p *uintptr) bool

// peek loads *p, which its owner may be storing to. For diagnosis only.
//
//go:noescape
func peek(p *uintptr) uintptr

// peek64 is peek for a word of bits.
func peek64(p *uint64) uint64 { return uint64(peek((*uintptr)(unsafe.Pointer(p)))) }
