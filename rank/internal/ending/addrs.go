package ending

import (
	"fmt"
	"net/netip"

	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/platform/addrs"
	"github.com/golci/golci/internal/transport/udp/nic"
)

// planeAddrs are the addresses at which the plane listens for other nodes: those that GOLCI_UDP_INTERFACES names. None
// means all: nothing is named, or the job has one node.
func planeAddrs(j *boot.Job, set *settings.Set) ([]netip.Addr, error) {
	spec := settings.UDPInterfaces.Get(set)
	if spec == "" || spec == "auto" || len(j.LocalRanks) == j.Size {
		return nil, nil
	}
	ifs, err := addrs.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("golci: interfaces: %w", err)
	}
	return nic.Select(spec, ifs)
}
