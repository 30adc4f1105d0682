package mesh

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/golci/golci/internal/addrs"
)

// maxAddrs is the most addresses that a rank publishes.
const maxAddrs = 16

var errAddrs = errors.New("malformed addresses")

// AppendAddrs adds to dst what ParseAddrs reads: the number of addresses, and each with its length before it.
func AppendAddrs(dst []byte, addrs []netip.AddrPort) ([]byte, error) {
	if len(addrs) > maxAddrs {
		return nil, fmt.Errorf("golci: %d addresses, at most %d", len(addrs), maxAddrs)
	}
	dst = append(dst, byte(len(addrs)))
	for _, a := range addrs {
		b, err := a.MarshalBinary()
		if err != nil || !a.IsValid() || a.Addr().Zone() != "" {
			return nil, fmt.Errorf("golci: address %v: %w", a, errors.Join(errAddrs, err))
		}
		dst = append(append(dst, byte(len(b))), b...)
	}
	return dst, nil
}

// ParseAddrs reads exactly the bytes that AppendAddrs has written.
func ParseAddrs(b []byte) ([]netip.AddrPort, error) {
	if len(b) == 0 || b[0] > maxAddrs {
		return nil, fmt.Errorf("%w: %d bytes", errAddrs, len(b))
	}
	out := make([]netip.AddrPort, b[0])
	b = b[1:]
	for i := range out {
		if len(b) == 0 || len(b) <= int(b[0]) {
			return nil, fmt.Errorf("%w: cut off in number %d", errAddrs, i)
		}
		n := 1 + int(b[0])
		if err := out[i].UnmarshalBinary(b[1:n]); err != nil {
			return nil, fmt.Errorf("%w: %w", errAddrs, err)
		}
		if !out[i].IsValid() || out[i].Addr().Zone() != "" {
			return nil, fmt.Errorf("%w: %v", errAddrs, out[i])
		}
		b = b[n:]
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("%w: %d bytes too many", errAddrs, len(b))
	}
	return out, nil
}

// reachable lists those of a machine's own addresses at which others may find it, the most likely first. If there is
// none it returns the loopback address: then all of the job is on this machine, whatever its launcher reports.
func reachable(host []netip.Prefix) []netip.Addr {
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
