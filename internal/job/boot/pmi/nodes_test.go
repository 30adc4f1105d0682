package pmi

import (
	"fmt"
	"slices"
	"testing"
)

// readBack reads a mapping.
func readBack(t *testing.T, text string, size int) []int {
	t.Helper()
	nodes, err := nodesOf(text, size)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return nodes
}

func TestFormatNodes(t *testing.T) {
	for _, c := range []struct {
		nodes []int
		want  string
	}{
		{[]int{0}, "(vector,(0,1,1))"},
		{[]int{0, 0, 0, 1, 1, 1}, "(vector,(0,2,3))"},
		{[]int{0, 1, 0, 1, 0, 1}, "(vector,(0,2,1))"},
		{[]int{0, 1, 2, 0, 1}, "(vector,(0,3,1),(0,2,1))"},
		{[]int{0, 0, 1, 2, 2}, "(vector,(0,1,2),(1,1,1),(2,1,2))"},
		{[]int{0, 1, 1, 0}, "(vector,(0,1,1),(1,1,2),(0,1,1))"},
	} {
		got := FormatNodes(c.nodes, SafeValue)
		if got != c.want || !slices.Equal(readBack(t, got, len(c.nodes)), c.nodes) {
			t.Errorf("%v: %s, want %s", c.nodes, got, c.want)
		}
	}
	if got := FormatNodes([]int{0, 1, 1, 0}, 20); got != "" {
		t.Errorf("beyond the limit: %s", got)
	}
}

// TestPublish: ranks see what the server has published, and cannot put it themselves.
func TestPublish(t *testing.T) {
	s, err := NewServer(Config{Size: 1, KVSName: "k"})
	if err != nil {
		t.Fatal(err)
	}
	say := func(line string) string { return fmt.Sprint(s.Handle(0, []byte(line))[0].Msg) }
	say("cmd=init pmi_version=1 pmi_subversion=1")
	before := say("cmd=get kvsname=k key=" + KeyMapping)
	s.Publish(KeyMapping, "(vector,(0,1,1))")
	if after := say("cmd=get kvsname=k key=" + KeyMapping); before == after ||
		after == say("cmd=put kvsname=k key="+KeyMapping+" value=x") {
		t.Errorf("%s, then %s", before, after)
	}
}

// FuzzFormatNodes: what is written is read again.
func FuzzFormatNodes(f *testing.F) {
	f.Add([]byte{0, 1, 0, 1})
	f.Add([]byte{0, 0, 1, 2, 2})
	f.Fuzz(func(t *testing.T, in []byte) {
		nodes := make([]int, len(in))
		for i, b := range in {
			nodes[i] = int(b)
		}
		if text := FormatNodes(nodes, 1<<20); len(in) > 0 && !slices.Equal(readBack(t, text, len(nodes)), nodes) {
			t.Errorf("%v: %s", nodes, text)
		}
	})
}
