//go:build unix

package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestBenchReliable: the flags of the link reach the simulation, which says what it was told.
func TestBenchReliable(t *testing.T) {
	r := run(t, golci(t, "bench", "reliable", "-rtt", "2ms", "-rate=100M", "-loss", "0,5%", "-dup", "0.01", "-reorder", "0.02",
		"-sizes", "3000", "-duration", "20ms", "-seed", "9", "-json"))
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if r.code != 0 || len(lines) != 2 {
		t.Fatalf("code %d\n%s%s", r.code, r.out, r.err)
	}
	var row struct {
		Size, Seed         int
		Loss, Dup, Reorder float64
		RTT                float64 `json:"rtt_us"`
		Rate               float64 `json:"rate_bit_s"`
		Goodput            float64 `json:"goodput_mb_s"`
	}
	if err := json.Unmarshal([]byte(lines[1]), &row); err != nil {
		t.Fatal(err)
	}
	if row.Size != 3000 || row.Seed != 9 || row.Loss != 0.05 || row.Dup != 0.01 || row.Reorder != 0.02 || row.RTT != 2000 || row.Rate != 1e8 ||
		row.Goodput <= 0 || row.Goodput > 12.5 {
		t.Errorf("row %s", lines[1])
	}
}

func TestBenchRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"reliable", "-loss", "2"},
		{"reliable", "-rate", "fast"},
		{"reliable", "-mtu", "10"},
		{"latency", "-conduit", "pigeon"},
		{"credits", "-view", "none"},
		{"latency", "-n", "0"},
		{"latency", "-n", "-3"},
		{"latency", "-security", "trust"},
		{"scale", "-conduit", "udp"},
		{"latency", "-plot", "x.gif"},
		{"latency", "-plot", "/does-not-exist/x.svg"},
		{"taskbench", "-type", "cube"},
		{"taskbench", "-kernel", "cold"},
		{"taskbench", "-width", "-4"},
	} {
		r := run(t, golci(t, append([]string{"bench"}, args...)...))
		if r.code == 0 || r.err == "" || r.out != "" {
			t.Errorf("%q: code %d, %q, %q", args, r.code, r.out, r.err)
		}
	}
}

// TestBenchTaskbench: the flags of the graph reach runners in this process and in a job of ranks.
func TestBenchTaskbench(t *testing.T) {
	r := run(t, golci(t, "bench", "taskbench", "-runner", "serial,mpi,threads,realm", "-n", "2", "-type",
		"nearest,tree", "-width", "6",
		"-steps", "7", "-radix=5", "-payload", "64", "-iter", "20,3", "-kernel", "load_imbalance", "-imbalance",
		"1.5", "-json", "-metg"))
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if r.code != 0 || len(lines) != 4*2*2+4*2 {
		t.Fatalf("code %d\n%s%s", r.code, r.out, r.err)
	}
	var row struct {
		Bench, Impl, Type, Kernel                              string
		Width, Steps, Payload, Ranks, Cores, Iterations, Tasks int
	}
	want := row
	want.Bench, want.Impl, want.Type, want.Kernel = "taskbench", "mpi", "nearest", "load_imbalance"
	want.Width, want.Steps, want.Payload, want.Ranks, want.Cores, want.Iterations, want.Tasks = 6, 7, 64, 2, 2, 20, 42
	if err := json.Unmarshal([]byte(lines[2]), &row); err != nil || row != want {
		t.Errorf("%v, %+v, want %+v", err, row, want)
	}
}
