package nic

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// Interface is a network interface of this machine.
type Interface struct {
	Name     string
	Up       bool
	Loopback bool
	// Physical says that a device stands behind it, not other interfaces (VLANs, tunnels) or nothing; false where the system does
	// not tell.
	Physical bool
	MTU      int // bytes
	// Prefixes are its addresses, each with the length of its network's prefix. A link-local one of IPv6 is meant with Name as
	// zone, which a Prefix cannot hold.
	Prefixes []netip.Prefix
}

// Interfaces asks the system, at the start only. The error is the system's.
func Interfaces() ([]Interface, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("nic: interfaces: %w", err)
	}
	list := make([]Interface, 0, len(all))
	for _, i := range all {
		addrs, err := i.Addrs()
		if err != nil {
			return nil, fmt.Errorf("nic: addresses of %s: %w", i.Name, err)
		}
		n := Interface{
			Name: i.Name, Up: i.Flags&net.FlagUp != 0, Loopback: i.Flags&net.FlagLoopback != 0, Physical: physical(i.Name), MTU: i.MTU,
		}
		for _, a := range addrs {
			if p, ok := prefix(a); ok {
				n.Prefixes = append(n.Prefixes, p)
			}
		}
		list = append(list, n)
	}
	return list, nil
}

// physical asks Linux; elsewhere there is no such file.
func physical(name string) bool {
	_, err := os.Stat("/sys/class/net/" + name + "/device")
	return err == nil
}

func prefix(a net.Addr) (netip.Prefix, bool) {
	n, ok := a.(*net.IPNet)
	if !ok {
		return netip.Prefix{}, false
	}
	ip, ok := netip.AddrFromSlice(n.IP)
	bits, size := n.Mask.Size()
	if ip = ip.Unmap(); !ok || size != ip.BitLen() {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(ip, bits), true
}

// home is one address and the interface that it is on.
type home struct {
	on   *Interface
	nth  int // of on
	addr netip.Addr
	bits int
}

// homes lists all addresses a socket can be bound to, best first: IPv4 before IPv6, large MTUs before small ones, then as the
// system lists them.
func homes(ifs []Interface) (all []home) {
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

// Describe makes what an Endpoint says of addresses that Select chose among ifs; port4 and port6 are where this rank receives at
// those of either family, 0: not. An address that no interface has is left out.
func Describe(chosen []netip.Addr, ifs []Interface, port4, port6 uint16) (list []Address) {
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
func inventory(ifs []Interface) string {
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
