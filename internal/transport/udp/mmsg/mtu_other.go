//go:build !linux

package mmsg

import (
	"fmt"
	"net/netip"
)

// PathPayload tells how many bytes a datagram to addr may hold at most without being fragmented: here SafePayload,
// since this system is not asked. The error is errFamily. It does not block.
func PathPayload(addr netip.AddrPort) (bytes int, err error) {
	if !addr.Addr().IsValid() || addr.Addr().Is4In6() {
		return 0, fmt.Errorf("%w: %v", errFamily, addr)
	}
	return SafePayload, nil
}
