//go:build !ofi || !linux || !(amd64 || arm64)

package wiring

import (
	"context"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/transport/ofi"
	"github.com/golci/golci/rank/internal/terms"
)

func openFabric(context.Context, *terms.Options, *boot.Job) (conduit.Conduit, error) {
	return nil, fabricError(ofi.ErrNotBuilt)
}

func joinByFabric(*terms.Options, []*boot.Job) ([]conduit.Conduit, error) {
	return nil, fabricError(ofi.ErrNotBuilt)
}
