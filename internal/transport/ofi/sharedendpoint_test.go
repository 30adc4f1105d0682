//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"testing"

	"github.com/golci/golci/internal/platform/fi"
)

// TestSharedEndpoint: an endpoint leaves the family when the last conduit of the process that knows it has ended.
func TestSharedEndpoint(t *testing.T) {
	names := [][]byte{[]byte("kin 0"), []byte("kin 1"), []byte("another process")}
	a, b := join(names[0], &fi.Endpoint{}), join(names[1], &fi.Endpoint{})
	ofA, ofB := a.uses(names), b.uses(names)
	if len(ofA) != 2 || len(ofB) != 2 || ofA[0] != a || ofB[0] != b {
		t.Fatalf("%d and %d endpoints, want 2 each, the own one first", len(ofA), len(ofB))
	}
	in := func(k *sharedEndpoint) bool {
		family.mu.Lock()
		defer family.mu.Unlock()
		return family.all[k.name] == k
	}
	if err := leave(ofA); err != nil || !in(a) || !in(b) {
		t.Errorf("after the end of one: %v, %v, %v", err, in(a), in(b))
	}
	if err := leave(ofB); err != nil || in(a) || in(b) {
		t.Errorf("after the end of both: %v, %v, %v", err, in(a), in(b))
	}
}

func TestSharesMemory(t *testing.T) {
	for provider, want := range map[string]bool{"shm": true, "x;shm": true, "tcp;ofi_rxm": false, "shmem": false} {
		if got := sharesMemory(&fi.Info{Provider: provider}); got != want {
			t.Errorf("%s: %v", provider, got)
		}
	}
}
