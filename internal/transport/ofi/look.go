//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"fmt"

	"github.com/golci/golci/internal/platform/fi"
)

// Look tells which way a conduit would take with that provider and domain, empty for any: for people. The error tells
// why there is none. The first call opens the library, which takes long.
func Look(provider, domain string) (way string, err error) {
	lib, err := fi.Load()
	if err != nil {
		return "", err
	}
	i, err := lib.Find(fi.Want{Provider: provider, Domain: domain})
	if err != nil {
		return "", err
	}
	defer i.Free()
	return fmt.Sprintf("libfabric %d.%d, provider %s, domain %s", lib.Major, lib.Minor, i.Provider, i.Domain), nil
}
