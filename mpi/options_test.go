package mpi

import (
	"errors"
	"fmt"
	"testing"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/internal/observe/settings"
)

// withoutSettings clears the environment of whatever settings the tests are run with.
func withoutSettings(t *testing.T) {
	t.Helper()
	set, err := settings.Parse(func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range set.List() {
		t.Setenv(i.Env, "")
	}
}

// TestEagerLimit: what is told beforehand is what the ranks of such a job then have.
func TestEagerLimit(t *testing.T) {
	withoutSettings(t)
	for _, x := range []struct {
		want, size int
		pairs      []string
	}{
		{16 << 10, 2, nil},
		{16 << 10, 9, nil},
		{16 << 10, 2, []string{"GOLCI_LOAN", "200"}},
		{100, 2, []string{"GOLCI_EAGER", "100"}},
		{130920, 2, []string{"GOLCI_EAGER", "1MiB"}},
		{16 << 10, 2, []string{"GOLCI_FLOWCONTROL", "dynamic"}},
		{16 << 10, 2, []string{"GOLCI_FLOWCONTROL", "none"}},
		{872, 3, []string{"GOLCI_LOAN", "4"}},
		{16 << 10, 2, []string{"GOLCI_CONDUIT", "udp"}},
		{20 << 10, 1, []string{"GOLCI_EAGER", "20KiB"}},
	} {
		var opts []Option
		for i := 0; i < len(x.pairs); i += 2 {
			opts = append(opts, With(x.pairs[i], x.pairs[i+1]))
		}
		if got, err := EagerLimit(x.size, opts...); err != nil || got != x.want {
			t.Errorf("%v: %d, %v, want %d", x.pairs, got, err, x.want)
		}
		must(t, x.size, func(c *Comm) error {
			if got := c.Proc().Server().EagerLimit(); got != x.want {
				return fmt.Errorf("%v: a rank has %d, want %d", x.pairs, got, x.want)
			}
			return nil
		}, opts...)
	}
	small, err := EagerLimit(4096)
	if err != nil || small >= 16<<10 || small < 1<<10 {
		t.Errorf("of 4096 ranks: %d, %v", small, err)
	}
	for _, size := range []int{-1, 0, comm.MaxRanks + 1} {
		if _, err := EagerLimit(size); !errors.Is(err, ErrArgument) {
			t.Errorf("of %d ranks: %v", size, err)
		}
	}
	if _, err := EagerLimit(2, WithEager(-1)); !errors.Is(err, ErrArgument) {
		t.Errorf("got %v", err)
	}
}
