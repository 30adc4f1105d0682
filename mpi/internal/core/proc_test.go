package core

import (
	"fmt"
	"testing"
)

// TestServerConfig: the settings that are for the communication server, or for MPI's own checks, reach them.
func TestServerConfig(t *testing.T) {
	for _, x := range []struct {
		pairs []string
		want  string
	}{
		{nil, "16384 0 4096 true 0"},
		{[]string{"GOLCI_EAGER", "3000", "GOLCI_UNEXPECTED", "77777", "GOLCI_CHECK", "off"}, "3000 77777 4096 false 0"},
		{[]string{"GOLCI_WORKERS", "2", "GOLCI_THREADS", "1000"}, "16384 0 34768 true 0"},
		{[]string{"GOLCI_RENDEZVOUS", "stream"}, "16384 0 4096 true 1"},
		{[]string{"GOLCI_RENDEZVOUS", "get"}, "16384 0 4096 true 2"},
		{[]string{"GOLCI_RENDEZVOUS", "halves"}, "16384 0 4096 true 3"},
	} {
		run(t, 1, func(c *Comm) error {
			cfg := serverConfig(c.Proc().OfRank(), true)
			if got := fmt.Sprint(cfg.Eager, cfg.Unexpected, cfg.Entries, c.checked, cfg.Scheme); got != x.want {
				return fmt.Errorf("%v: %s, want %s", x.pairs, got, x.want)
			}
			if got := serverConfig(c.Proc().OfRank(), false).Entries; got != packetEntries {
				return fmt.Errorf("a program without threads has a table of %d", got)
			}
			return nil
		}, x.pairs...)
	}
}
