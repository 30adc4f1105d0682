//go:build ofi && (amd64 || arm64)

package jobtest

import (
	"fmt"
	"os"

	"github.com/golci/golci/internal/conduit/ofi"
)

// Jobs of tests go by libfabric, too, in builds that have it. The environment may choose another way than TCP.
func init() {
	if os.Getenv("GOLCI_OFI_PROVIDER") == "" {
		for name, value := range map[string]string{"GOLCI_OFI_PROVIDER": "tcp;ofi_rxm", "GOLCI_OFI_DOMAIN": "lo"} {
			_ = os.Setenv(name, value) // what fails is seen by Look
		}
	}
	if _, err := ofi.Look(os.Getenv("GOLCI_OFI_PROVIDER"), os.Getenv("GOLCI_OFI_DOMAIN")); err != nil {
		fmt.Fprintln(os.Stderr, "no jobs by libfabric:", err)
		return
	}
	networks = append(networks, ofi.Name)
}
