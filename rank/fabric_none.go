//go:build !ofi || !linux || !(amd64 || arm64)

package rank

import (
	"context"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/transport/ofi"
)

func openFabric(context.Context, *options, *boot.Job) (conduit.Conduit, error) {
	return nil, fabricError(ofi.ErrNotBuilt)
}

func joinByFabric(*options, []*boot.Job) ([]conduit.Conduit, error) {
	return nil, fabricError(ofi.ErrNotBuilt)
}
