// Package addrs is the inventory of this machine's network interfaces and addresses, and says which of them another
// process can use.
package addrs

import (
	"fmt"
	"net"
	"net/netip"
	"os"
)

// Interface is a network interface of this machine.
type Interface struct {
	Name     string
	Up       bool
	Loopback bool
	// Physical says that a device stands behind it, not other interfaces (VLANs, tunnels) or nothing; false where the
	// system does not tell.
	Physical bool
	MTU      int // bytes
	// Prefixes are its addresses, each with the length of its network's prefix. A link-local one of IPv6 is meant
	// with Name as zone, which a Prefix cannot hold.
	Prefixes []netip.Prefix
}

// Interfaces asks the system; it is for the start of a process. The error is the system's.
func Interfaces() ([]Interface, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("golci: network interfaces: %w", err)
	}
	list := make([]Interface, 0, len(all))
	for _, i := range all {
		addrs, err := i.Addrs()
		if err != nil {
			return nil, fmt.Errorf("golci: addresses of network interface %s: %w", i.Name, err)
		}
		n := Interface{
			Name: i.Name, Up: i.Flags&net.FlagUp != 0, Loopback: i.Flags&net.FlagLoopback != 0, Physical: isPhysical(i.Name),
			MTU: i.MTU,
		}
		for _, a := range addrs {
			if p, ok := prefixOf(a); ok {
				n.Prefixes = append(n.Prefixes, p)
			}
		}
		list = append(list, n)
	}
	return list, nil
}

// isPhysical asks Linux; elsewhere there is no such file.
func isPhysical(name string) bool {
	_, err := os.Stat("/sys/class/net/" + name + "/device")
	return err == nil
}

func prefixOf(a net.Addr) (netip.Prefix, bool) {
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

// Up lists the addresses of the interfaces that are up, with their networks.
func Up() ([]netip.Prefix, error) {
	ifs, err := Interfaces()
	return prefixesUp(ifs), err
}

func prefixesUp(ifs []Interface) (out []netip.Prefix) {
	for _, i := range ifs {
		if i.Up {
			out = append(out, i.Prefixes...)
		}
	}
	return out
}

// Usable says whether a means the same to every process that can use it. A link-local address does not: it means
// nothing without the other side's interface. With loopback, the processes are those of this machine.
func Usable(a netip.Addr, loopback bool) bool {
	return a.IsValid() && !a.IsUnspecified() && !a.IsMulticast() && !a.IsLinkLocalUnicast() && (loopback || !a.IsLoopback())
}

// List lists those of host that are usable, IPv4 first, else in the order of host.
func List(host []netip.Prefix, loopback bool) []netip.Addr {
	var four, six []netip.Addr
	for _, p := range host {
		switch a := p.Addr(); {
		case !Usable(a, loopback):
		case a.Is4():
			four = append(four, a)
		default:
			six = append(six, a)
		}
	}
	return append(four, six...)
}
