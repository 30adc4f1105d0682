package mesh

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/golci/golci/internal/platform/addrs"
)

// maxAddrs is the most addresses that a rank publishes.
const maxAddrs = 16

var errAddrs = errors.New("malformed addresses")

// CheckAddrs tells what is wrong with the addresses that a rank has published.
func CheckAddrs(addrs []netip.AddrPort) error {
	if len(addrs) > maxAddrs {
		return fmt.Errorf("%w: %d, at most %d", errAddrs, len(addrs), maxAddrs)
	}
	for _, a := range addrs {
		if !a.IsValid() || a.Addr().Zone() != "" {
			return fmt.Errorf("%w: %v", errAddrs, a)
		}
	}
	return nil
}

// reachableAt lists those of a machine's own addresses at which others may find it, the most likely first. If there is
// none it returns the loopback address: then all of the job is on this machine, whatever its launcher reports.
func reachableAt(host []netip.Prefix) []netip.Addr {
	out := addrs.List(host, false)
	if len(out) == 0 {
		out = addrs.List(host, true)
	}
	return out[:min(len(out), maxAddrs)]
}

// byDistance sorts a peer's addresses. Those in a network of this machine come first. Those that this machine has
// itself come last, because every machine may have the same one for its containers.
func byDistance(addrs []netip.AddrPort, host []netip.Prefix) []netip.AddrPort {
	distance := func(a netip.AddrPort) int {
		d := 1
		for _, p := range host {
			switch {
			case p.Addr() == a.Addr():
				return 2
			case p.Contains(a.Addr()):
				d = 0
			}
		}
		return d
	}
	out := slices.Clone(addrs)
	slices.SortStableFunc(out, func(a, b netip.AddrPort) int { return distance(a) - distance(b) })
	return out
}
