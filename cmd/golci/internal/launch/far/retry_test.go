package far

import (
	"errors"
	"slices"
	"testing"
	"time"
)

func TestIsLate(t *testing.T) {
	for line, want := range map[string]bool{
		"ssh: Could not resolve hostname w-0: Name or service not known\r\n":        true,
		"ssh: Could not resolve hostname w-0: Temporary failure in name resolution": true,
		"ssh: connect to host w-0 port 22: Connection refused":                      true,
		"rsh: unknown host":                                      true,
		"root@w-0: Permission denied (publickey).":               false,
		"Host key verification failed.":                          false,
		"srun: error: Unable to create step":                     false,
		"ssh: connect to host w-0 port 22: Connection timed out": false, // it has waited long enough by itself
	} {
		if isLate(line) != want {
			t.Errorf("%q: %v", line, !want)
		}
	}
}

// TestPatience: the pauses grow, and sum up to the limit.
func TestPatience(t *testing.T) {
	for limit, want := range map[time.Duration][]time.Duration{
		0:                      nil,
		100 * time.Millisecond: {100 * time.Millisecond},
		5 * time.Second: {
			250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 1250 * time.Millisecond,
		},
	} {
		p := retryPolicy{limit: limit}
		var got []time.Duration
		for {
			d, ok := p.nextPause()
			if !ok {
				break
			}
			got = append(got, d)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: %v", limit, got)
		}
	}
}

func TestShellFor(t *testing.T) {
	for _, c := range []struct{ shell, want []string }{
		{[]string{"ssh", "-x"}, []string{"ssh", "-x", "h", "sh"}},
		{[]string{"srun", "-w", "{}", "-q"}, []string{"srun", "-w", "h", "-q", "sh"}},
		{[]string{"srun", "--nodelist={}", "{}x{}"}, []string{"srun", "--nodelist=h", "hxh", "sh"}},
	} {
		if got := shellFor(c.shell, "h"); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q", c.shell, got)
		}
	}
}

// TestTried: the user is told once, when the pauses between the calls are longer than the time without a word.
func TestTried(t *testing.T) {
	var x callReport
	why := errors.New("unknown host")
	for i, d := range []time.Duration{firstPause, 2 * firstPause, 4 * firstPause, quietTime, quietTime} {
		text := x.waitAfter(d, "n1", why, time.Minute)
		if want := i == 3; want != (text != "") || want && text != "host n1 is called again and again, for 1m0s at most (-connect): unknown host" {
			t.Errorf("pause %d: %q", i, text)
		}
	}
}
