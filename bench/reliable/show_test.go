package reliable

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

func small(t *testing.T) Config {
	return Config{Size: 4000, Length: 10 * time.Millisecond, Count: 50, Seed: seedOf(t)}
}

// TestLosslessComesFirst: the others are compared with it, also when it was not asked for.
func TestLosslessComesFirst(t *testing.T) {
	var out bytes.Buffer
	curves, err := Show(t.Context(), small(t), []float64{0.1, 0.05}, []int{4000, 100}, &out, true)
	if err != nil || len(curves) != 6 {
		t.Fatalf("%d curves, %v", len(curves), err)
	}
	d := json.NewDecoder(&out)
	for _, size := range []int{4000, 100} {
		for i, loss := range []float64{0, 0.05, 0.1} {
			var r lossRow
			if err := d.Decode(&r); err != nil {
				t.Fatal(err)
			}
			if r.Size != size || float64(r.Loss) != loss || r.Goodput <= 0 || (r.Share == 1) != (i == 0) || r.P50 <= 0 || r.Sent == 0 {
				t.Errorf("%+v", r)
			}
		}
	}
}

func TestSendersAreShown(t *testing.T) {
	c := small(t)
	c.Senders, c.Stagger = 3, time.Millisecond
	for _, asJSON := range []bool{false, true} {
		var out bytes.Buffer
		if _, err := Show(t.Context(), c, []float64{0}, nil, &out, asJSON); err != nil {
			t.Fatal(err)
		}
		for _, s := range Scenarios() {
			if n := strings.Count(out.String(), string(s)); n < 1 {
				t.Errorf("JSON %v: no %s in\n%s", asJSON, s, out.String())
			}
		}
	}
}

func TestColumns(t *testing.T) {
	var out bytes.Buffer
	if _, err := Show(t.Context(), small(t), []float64{0, 0.1}, nil, &out, false); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 4 || !strings.Contains(lines[1], "p99.9 us") || !strings.Contains(lines[3], "10.00") {
		t.Errorf("two lines of heading and two rows expected:\n%s", out.String())
	}
}

func TestShowEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, senders := range []int{1, 2} {
		c := small(t)
		c.Senders, c.Stagger = senders, time.Millisecond
		if _, err := Show(ctx, c, []float64{0}, nil, new(bytes.Buffer), true); !errors.Is(err, context.Canceled) {
			t.Errorf("%d senders: %v", senders, err)
		}
	}
	if _, err := Show(t.Context(), small(t), []float64{2}, nil, new(bytes.Buffer), true); !errors.Is(err, ErrConfig) {
		t.Errorf("loss of 2: %v", err)
	}
}
