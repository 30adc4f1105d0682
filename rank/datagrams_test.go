package rank

import (
	"errors"
	"strings"
	"testing"

	"github.com/golci/golci/internal/transport/badnet"
)

// TestFaultsOfAbsentRanks: faults on the way to or from a rank that the job has not are an error, not a good network.
func TestFaultsOfAbsentRanks(t *testing.T) {
	run := func(spec string) error {
		return run(2, with("GOLCI_CONDUIT", "udp", "GOLCI_UDP_FAULTS", spec), func(*Rank) error { return nil })
	}
	for _, spec := range []string{"dup=0.1,to=2", "dup=0.1,from=1+2", "dup=0.1,to=0+1,from=2"} {
		err := run(spec)
		if !errors.Is(err, ErrArgument) || !errors.Is(err, badnet.ErrFaults) {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		for _, text := range []string{"GOLCI_UDP_FAULTS", "=2", "ranks 0 to 1"} {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v does not say %q", spec, err, text)
			}
		}
	}
	if err := run("dup=0.1,to=0+1,from=1"); err != nil {
		t.Error(err)
	}
}
