package pmix

import (
	"net/netip"
	"strings"
)

// parseURI reads "NAMESPACE.RANK;tcp4://ADDRESS:PORT", which more fields may follow. It returns false for a server
// that is not at an IP address.
func parseURI(uri string) (netip.AddrPort, bool) {
	_, at, ok := strings.Cut(uri, ";")
	if !ok {
		return netip.AddrPort{}, false
	}
	at, _, _ = strings.Cut(at, ";")
	scheme, at, ok := strings.Cut(at, "://")
	if !ok || scheme != "tcp4" && scheme != "tcp6" {
		return netip.AddrPort{}, false
	}
	if i := strings.LastIndexByte(at, ':'); scheme == "tcp6" && i > 0 && at[0] != '[' {
		at = "[" + at[:i] + "]" + at[i:] // as the library writes it
	}
	a, err := netip.ParseAddrPort(at)
	return a, err == nil
}
