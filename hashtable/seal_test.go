package hashtable

import "testing"

// TestSealIsOfOneGroup: while one group is sealed its keys are refused, by every call, and those of all other groups
// are not.
func TestSealIsOfOneGroup(t *testing.T) {
	groups := []uint16{0, 1, 62, 63, 64, 65, 127, 128, 0x7FFF, 0x8000, 0xFFFE}
	tab := newTable(t, 1)
	for _, sealed := range groups {
		tab.Seal(sealed)
		for _, g := range groups {
			key, n := uint64(g)<<groupShift|7, new(Node[int])
			_, inserts := tab.InsertOrMatch(key, n, Post)
			views := tab.View(key, Post, func(*int) {})
			_, takes := tab.TakeFunc(key, Post, func(*int) bool { return false })
			_, matches := tab.Match(key, Arrive)
			_, removes := tab.Remove(key, n)
			for call, ok := range map[string]bool{
				"InsertOrMatch": inserts, "View": views, "TakeFunc": takes, "Match": matches, "Remove": removes,
			} {
				if ok != (g != sealed) {
					t.Errorf("group %d sealed: %s under group %d returned %v", sealed, call, g, ok)
				}
			}
		}
		tab.Unseal(sealed)
		if n := tab.sealed.Load(); n != 0 {
			t.Errorf("%d groups count as sealed after the last was opened", n)
		}
	}
	checkEmpty(t, tab)
}

// TestMatchSlowIsMatch: Match takes the slow way only when it finds somebody inside the bucket, and gives the same
// there.
func TestMatchSlowIsMatch(t *testing.T) {
	tab := newTable(t, 1)
	nodes := make([]Node[int], 2)
	for i := range nodes {
		put(tab, 9, &nodes[i], Post)
	}
	if n, ok := tab.matchSlow(9, Arrive); n != nil || !ok {
		t.Errorf("took %p from the other side, %v", n, ok)
	}
	for i := range nodes {
		if n, ok := tab.matchSlow(9, Post); n != &nodes[i] || !ok {
			t.Errorf("got %p, %v, want node %d", n, ok, i)
		}
	}
	if n, ok := tab.matchSlow(9, Post); n != nil || !ok {
		t.Errorf("got %p, %v of an empty table", n, ok)
	}
	tab.Seal(0)
	if n, ok := tab.matchSlow(9, Post); n != nil || ok {
		t.Errorf("got %p, %v of a sealed group", n, ok)
	}
	checkEmpty(t, tab)
}
