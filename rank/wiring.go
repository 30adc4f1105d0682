package rank

import (
	"fmt"

	"github.com/golci/golci/rank/internal/terms"
	"github.com/golci/golci/rank/internal/wiring"
)

// Tuning has bounds that no setting changes, for tests and benchmarks. The zero value is right for programs. All ranks
// of a job have the same.
type Tuning = terms.Tuning

// Conduit describes a conduit, for people.
type Conduit = wiring.Conduit

// Conduits lists the conduits that GOLCI_CONDUIT may name. It asks the kernel for what they need. Builds that have
// libfabric ask that, too, which takes long.
func Conduits() []Conduit { return wiring.Conduits() }

// EagerLimit returns the eager limit in bytes: the longest message that a rank always sends without rendezvous. It
// holds for a job of size ranks (at least 1) with that configuration and the environment. The value is GOLCI_EAGER,
// or else 16 KiB, over libfabric 15 KiB. It is smaller where one record, or the least loan of credits that a peer
// has, has no room for that. Loans and records shrink as jobs grow. It starts nothing and does not block. Error:
// ErrArgument.
func EagerLimit(size int, cfg Config) (int, error) {
	o, err := cfg.readSettings()
	if err != nil {
		return 0, err
	}
	if size < 1 {
		return 0, fmt.Errorf("%w: a job of %d ranks", ErrArgument, size)
	}
	return o.terms.EagerLimit(size), nil
}
