//go:build golci_invariants || race

package hashtable

import "testing"

func TestNodeTwiceIsCaught(t *testing.T) {
	tab, n := newTable(t, 1), new(Node[int])
	put(tab, 1, n, Post)
	defer func() {
		if recover() == nil {
			t.Error("the table took a node that was in it")
		}
	}()
	put(tab, 2, n, Post)
}

func TestReservedKeyIsCaught(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a reserved key went through")
		}
	}()
	put(newTable(t, 1), Reserved, new(Node[int]), Post)
}
