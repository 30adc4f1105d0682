package report

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/golci/golci/am"
	"github.com/golci/golci/internal/transport/credit"
)

// TestCreditStatsTellOnce: a file that takes no more is told of once, and ends nothing else.
func TestCreditStatsTellOnce(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var told []error
	s := &CreditStats{
		terms: credit.Config{PerPeer: 6}, stop: make(chan struct{}), ended: make(chan struct{}), file: f,
		report: func() am.CreditReport { return am.CreditReport{Peers: make([]am.PeerCredit, 2)} },
		tell:   func(err error) { told = append(told, err) },
	}
	s.runStats() // ends by itself
	s.Close()
	if len(told) != 1 || !errors.Is(told[0], os.ErrClosed) {
		t.Errorf("told %v", told)
	}
}
