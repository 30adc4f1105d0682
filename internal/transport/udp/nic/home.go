package nic

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/golci/golci/internal/platform/addrs"
)

// home is one address and the interface that it is on.
type home struct {
	on   *addrs.Interface
	nth  int // of on
	addr netip.Addr
	bits int
}

// homes lists all addresses a socket can be bound to, best first: IPv4 before IPv6, large MTUs before small ones,
// then as the system lists them.
func homes(ifs []addrs.Interface) (all []home) {
	for i := range ifs {
		for n, p := range ifs[i].Prefixes {
			h := home{&ifs[i], n, p.Addr(), p.Bits()}
			if h.addr.Is6() && h.addr.IsLinkLocalUnicast() {
				h.addr = h.addr.WithZone(ifs[i].Name)
			}
			if FamilyOf(h.addr) != 0 {
				all = append(all, h)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b home) int {
		return cmp.Or(cmp.Compare(FamilyOf(a.addr), FamilyOf(b.addr)), cmp.Compare(b.on.MTU, a.on.MTU))
	})
	return all
}

// Describe makes what an Endpoint says of addresses that Select chose among ifs; port4 and port6 are where this rank
// receives at those of either family, 0: not. An address that no interface has is left out.
func Describe(chosen []netip.Addr, ifs []addrs.Interface, port4, port6 uint16) (list []Address) {
	all := homes(ifs)
	for _, addr := range chosen {
		port := port4
		if FamilyOf(addr) == IPv6 {
			port = port6
		}
		at := slices.IndexFunc(all, func(h home) bool { return h.addr == addr })
		if at >= 0 && port != 0 {
			list = append(list, Address{netip.AddrPortFrom(addr, port), all[at].bits, all[at].on.MTU})
		}
	}
	return list
}

// inventory says in one line what there is.
func inventory(ifs []addrs.Interface) string {
	var parts []string
	for i := range ifs {
		s := ifs[i].Name
		if !ifs[i].Up {
			s += " (down)"
		}
		for _, p := range ifs[i].Prefixes {
			s += " " + p.String()
		}
		parts = append(parts, s)
	}
	if len(parts) == 0 {
		return "no interface"
	}
	return strings.Join(parts, ", ")
}
