package wiring

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/transport/ofi"
	"github.com/golci/golci/rank/internal/terms"
)

// openByFabric takes libfabric beyond a node and shared memory within. A job of one node goes by libfabric alone: one
// that wants shared memory names that.
func openByFabric(ctx context.Context, o *terms.Options, job *boot.Job) (conduit.Conduit, error) {
	if len(job.LocalRanks) == job.Size {
		return openFabric(ctx, o, job)
	}
	return openMixed(ctx, o, job, openFabric)
}

// fabricWay is the provider and the domain that the settings name; empty for any.
func fabricWay(v *settings.Set) (provider, domain string) {
	return named(settings.OFIProvider.Get(v)), named(settings.OFIDomain.Get(v))
}

// named is a text of a setting, empty for auto.
func named(s string) string {
	if s == "auto" {
		return ""
	}
	return s
}

// lookAtFabric tells which way the environment's settings lead to.
func lookAtFabric() (string, error) {
	v, err := settings.Parse(os.LookupEnv)
	if err != nil {
		return "", err
	}
	return ofi.Look(fabricWay(v))
}

// fabricError says which settings an error of libfabric may come from.
func fabricError(err error) error {
	if errors.Is(err, ofi.ErrNotBuilt) {
		return fmt.Errorf("%w: %s=%s: %w", terms.ErrArgument, settings.Conduit.Env(), ofi.Name, err)
	}
	return fmt.Errorf("%s=%s, see %s, %s and %s: %w", settings.Conduit.Env(), ofi.Name, settings.OFIProvider.Env(),
		settings.OFIDomain.Env(), settings.Eager.Env(), err)
}
