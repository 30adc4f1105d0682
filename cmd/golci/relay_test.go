package main

import "testing"

// TestRelayFlags: flags with one dash reach the command, which refuses what makes no sense.
func TestRelayFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{"relay", "-listen", "127.0.0.1:0"}, 2},
		{[]string{"relay", "-listen", "127.0.0.1:0", "-to", "127.0.0.1:9", "-loss", "2"}, 1},
		{[]string{"relay", "-listen", "127.0.0.1:0", "-to", "127.0.0.1:9", "-delay=-1s", "-oneway"}, 1},
	} {
		if got := realMain(c.args); got != c.want {
			t.Errorf("%q: exit code %d, want %d", c.args, got, c.want)
		}
	}
}
