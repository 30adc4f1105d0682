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

// TestNodeMayComeAgain: a node that the table has given back, in whatever way, may be put into it again.
func TestNodeMayComeAgain(t *testing.T) {
	tab := newTable(t, 1)
	first, second := new(Node[int]), new(Node[int])
	for name, takeBoth := range map[string]func(){
		"Match": func() { match(tab, 1, Post); match(tab, 1, Post) },
		"InsertOrMatch": func() {
			put(tab, 1, new(Node[int]), Arrive)
			put(tab, 1, new(Node[int]), Arrive)
		},
		"Remove, oldest first":   func() { remove(tab, 1, first); remove(tab, 1, second) },
		"Remove, youngest first": func() { remove(tab, 1, second); remove(tab, 1, first) },
		"TakeFunc": func() {
			for range 2 {
				if _, ok := tab.TakeFunc(1, Post, func(*int) bool { return true }); !ok {
					t.Error("refused")
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				put(tab, 1, first, Post)
				put(tab, 1, second, Post)
				takeBoth()
				checkEmpty(t, tab)
			}
		})
	}
}

func TestReservedKeyIsCaught(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a reserved key went through")
		}
	}()
	put(newTable(t, 1), Reserved, new(Node[int]), Post)
}
