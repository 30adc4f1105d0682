//go:build !linux

package gasnettest

import "testing"

// unmapped is empty where the system has no such memory.
func unmapped(testing.TB) [][]byte { return nil }
