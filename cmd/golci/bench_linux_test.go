package main

import (
	"strings"
	"testing"

	"github.com/golci/golci/bench"
)

// TestBenchOverAConduit starts ranks that are told their conduit, and name their rows by it.
func TestBenchOverAConduit(t *testing.T) {
	r := run(t, golci(t, "bench", "tail", "-conduit", "shm", "-sizes", "8", "-duration", "1ms", "-json"))
	var got []string
	err := bench.ReadJSON(strings.NewReader(r.out), func(row bench.Row) { got = append(got, row.Bench+" "+row.Impl) })
	if want := "tail-p50 golci-shm, tail-p99 golci-shm, tail-p99.9 golci-shm"; err != nil || r.code != 0 || strings.Join(got, ", ") != want {
		t.Errorf("code %d, rows %q, want %s; %v\n%s", r.code, got, want, err, r.err)
	}
}
