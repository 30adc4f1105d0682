package algorithm

import (
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/comm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestCollectiveTags: a tag tells the call, and no two calls of a range of numbers have the same.
func TestCollectiveTags(t *testing.T) {
	for _, size := range []int{1, 2, 3, 4, 5, 1000, 4096, 1 << 20} {
		half := uint64(1) << (NumberBits(size) - 1)
		for w := range Free {
			for _, root := range []int{0, size / 2, size - 1} {
				for _, call := range []uint64{1, half - 1, half, 2*half - 1, 2 * half, 1 << 40} {
					tag := MakeTag(size, w, root, call)
					if uint(tag) > comm.MaxTag || OfTag(tag) != w || RootOfTag(size, tag) != root ||
						NumberOfTag(size, tag) != int(call%(2*half)) {
						t.Fatalf("size %d, %v, root %d, call %d: tag %#x", size, w, root, call, tag)
					}
				}
			}
		}
	}
	if got := CallText(4, MakeTag(4, BcastTree, 3, 17), 18); got != "Bcast, call 17, root 3" {
		t.Error(got)
	}
	if got := CallText(4, MakeTag(4, Barrier, 0, 1<<30+1), 1<<30-1); got != fmt.Sprintf("Barrier, call %d", 1<<30+1) {
		t.Error(got)
	}
}

// TestTagIn: a word that nobody has written has the tag of no call, also of one whose low bits are those of the word.
func TestTagIn(t *testing.T) {
	const tag = 77
	for _, call := range []uint64{1, 1 << (64 - TagEntryBits), 1<<62 + 1, 1 << 62} {
		if got, ok := TagIn(0, call); ok {
			t.Errorf("call %#x has tag %d of nothing", call, got)
		}
		if got, ok := TagIn(call<<TagEntryBits|tag, call); !ok || got != tag {
			t.Errorf("call %#x has tag %d, %v", call, got, ok)
		}
		if _, ok := TagIn(call<<TagEntryBits|tag, call+KeptTags); ok {
			t.Errorf("call %#x has the tag of the call before", call+KeptTags)
		}
	}
	if _, ok := TagIn(tag, 0); ok {
		t.Error("Finalize has a tag")
	}
}
