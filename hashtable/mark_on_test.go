//go:build golci_invariants || race

package hashtable

import "testing"

func TestNodeTwiceIsCaught(t *testing.T) {
	for name, enter := range map[string]func(*Table[int], uint64, *Node[int]){
		"InsertOrMatch": func(tab *Table[int], key uint64, n *Node[int]) { tab.InsertOrMatch(key, n, Post) },
		"Insert":        func(tab *Table[int], key uint64, n *Node[int]) { tab.Insert(key, n, Post) },
	} {
		tab, n := newTable(t, 1), new(Node[int])
		enter(tab, 1, n)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s took a node that was in the table", name)
				}
			}()
			enter(tab, 2, n)
		}()
	}
}

func TestReservedKeyIsCaught(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a reserved key went through")
		}
	}()
	newTable(t, 1).InsertOrMatch(Reserved, new(Node[int]), Post)
}
