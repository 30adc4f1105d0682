package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/golci/golci/bench"
)

// TestBenchOverAConduit starts ranks that are told their conduit, and name their rows by it.
func TestBenchOverAConduit(t *testing.T) {
	for _, c := range []struct {
		args []string
		impl string
	}{
		{[]string{"-conduit", "shm"}, "golci-shm"},
		{[]string{"-conduit", "udp"}, "golci-udp-encrypt"},
		{[]string{"-conduit", "udp", "-security", "trust"}, "golci-udp-trust"},
	} {
		t.Run(c.impl, func(t *testing.T) {
			r := run(t, golci(t, append([]string{"bench", "tail", "-sizes", "8", "-duration", "1ms", "-json"}, c.args...)...))
			var got []string
			err := bench.ReadJSON(strings.NewReader(r.out), func(row bench.Row) {
				got = append(got, row.Bench+" "+row.Impl)
				if row.Value <= 0 || row.Note != "" {
					t.Errorf("%+v", row)
				}
			})
			want := []string{"tail-p50 " + c.impl, "tail-p99 " + c.impl, "tail-p99.9 " + c.impl}
			if err != nil || r.code != 0 || !slices.Equal(got, want) {
				t.Errorf("code %d, rows %q, want %q; %v\n%s", r.code, got, want, err, r.err)
			}
		})
	}
}

// TestBenchReliableForReal loses packets between two ranks, whose loops compare what arrives.
func TestBenchReliableForReal(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for many timers")
	}
	r := run(t, golci(t, "bench", "reliable", "-real", "-sizes", "2k", "-loss", "1%", "-duration", "1ms", "-json"))
	if r.code != 0 || !strings.Contains(r.out, `"impl":"golci-udp-encrypt","size":2048,"loss":0.01,`) || strings.Contains(r.out, `"p99_us":0,`) {
		t.Errorf("code %d\n%s%s", r.code, r.out, r.err)
	}
}
