package pmix

import (
	"slices"
	"testing"
)

func TestPeers(t *testing.T) {
	for text, want := range map[string][]int{
		"0": {0}, "0,1,3": {0, 1, 3}, "3,1": {1, 3}, "1,1": {1}, "": nil, "0,": nil, "4": nil, "-1": nil, "0 1": nil,
		"x": nil,
	} {
		got, err := parsePeers(text, 4)
		if (err == nil) != (want != nil) || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}

func FuzzPeers(f *testing.F) {
	f.Add("0,1,2", 3)
	f.Fuzz(func(t *testing.T, text string, size int) {
		got, err := parsePeers(text, size)
		if err == nil && (len(got) == 0 || got[0] < 0 || got[len(got)-1] >= size) {
			t.Errorf("%q of %d: %v", text, size, got)
		}
	})
}
