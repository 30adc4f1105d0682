package report

import (
	"strings"
	"testing"
)

// TestPlace: stacks that differ in numbers only are in one place.
func TestPlace(t *testing.T) {
	a := "goroutine 7 [chan receive, 3 minutes]:\nmain.f(0xc01, 2)\n\t/src/a.go:10 +0x1d\ncreated by main.main in goroutine 1\n\t/src/a.go:5 +0x2"
	b := strings.NewReplacer("goroutine 7", "goroutine 8", "3 minutes", "4 minutes", "0xc01", "0xc02", "goroutine 1", "goroutine 3").Replace(a)
	if place(a) != place(b) {
		t.Errorf("%q\n%q", place(a), place(b))
	}
	for _, other := range []string{"a.go:10", "receive", "main.f"} {
		if c := strings.ReplaceAll(a, other, "x"); place(a) == place(c) {
			t.Errorf("without %q it is the same place", other)
		}
	}
	if got := userFrame(a); got != "main.f at /src/a.go:10" {
		t.Error(got)
	}
}
