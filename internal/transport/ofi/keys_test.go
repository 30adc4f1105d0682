//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"testing"

	"github.com/golci/golci/conduit"
)

// TestKeys: a key gives back what it was made of, and with a bit changed it is none.
func TestKeys(t *testing.T) {
	for _, c := range []struct{ rkey, base uint64 }{
		{0, 0}, {1, 0}, {1<<32 - 1, 0x7fff_1234_5678}, {1 << 32, 0}, {1<<64 - 1, 0},
	} {
		k, ok := keyOf(c.rkey, c.base, 4096)
		if !ok || k.ID == 0 || k.Size != 4096 {
			t.Fatalf("%+v: %+v, %v", c, k, ok)
		}
		rkey, base, ok := openKey(k)
		if !ok || rkey != c.rkey || base != c.base {
			t.Errorf("%+v: opened as %d, %x, %v", c, rkey, base, ok)
		}
		for bit := range 64 {
			for field, bad := range map[string]conduit.Key{
				"ID":   {ID: k.ID ^ 1<<bit, Base: k.Base, Size: k.Size},
				"base": {ID: k.ID, Base: k.Base ^ 1<<bit, Size: k.Size},
				"size": {ID: k.ID, Base: k.Base, Size: k.Size ^ 1<<bit},
			} {
				if _, _, ok := openKey(bad); ok {
					t.Errorf("%+v: bit %d of the %s is not noticed", c, bit, field)
				}
			}
		}
	}
	if k, ok := keyOf(1<<40, 4096, 8); ok {
		t.Errorf("a long key with a base: %+v", k)
	}
	if _, _, ok := openKey(conduit.Key{}); ok {
		t.Error("the zero key is one")
	}
}
