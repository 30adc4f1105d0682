//go:build !ofi || !linux || !(amd64 || arm64)

package rank

import (
	"context"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/boot"
	"github.com/golci/golci/internal/conduit/ofi"
)

func openFabric(context.Context, *options, *boot.Job) (conduit.Conduit, error) {
	return nil, fabricError(ofi.ErrNotBuilt)
}

func joinByFabric(*options, []*boot.Job) ([]conduit.Conduit, error) {
	return nil, fabricError(ofi.ErrNotBuilt)
}
