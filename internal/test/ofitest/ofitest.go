//go:build ofi && linux && (amd64 || arm64)

package ofitest

import (
	"fmt"
	"os"

	"github.com/golci/golci/internal/transport/ofi"
)

// Networks has the name of the conduit, if this build and system have it. It chooses TCP on the loopback interface for
// this process and those that it starts, unless the environment chooses a provider. Without the library it says so.
func Networks() []string {
	if os.Getenv("GOLCI_OFI_PROVIDER") == "" {
		for name, value := range map[string]string{"GOLCI_OFI_PROVIDER": "tcp;ofi_rxm", "GOLCI_OFI_DOMAIN": "lo"} {
			_ = os.Setenv(name, value) // what fails is seen by Look
		}
	}
	if _, err := ofi.Look(os.Getenv("GOLCI_OFI_PROVIDER"), os.Getenv("GOLCI_OFI_DOMAIN")); err != nil {
		fmt.Fprintln(os.Stderr, "no jobs by libfabric:", err)
		return nil
	}
	return []string{ofi.Name}
}
