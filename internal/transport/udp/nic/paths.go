package nic

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/golci/golci/internal/transport/udp/mmsg"
)

// errNoPath is matched by the errors of Agree and Paths.
var errNoPath = errors.New("nic: no path")

// Agree finds the family that all ranks, in their order, can use: IPv4 if each has an address, else IPv6 if each has
// one. The error matches errNoPath and names ranks that lack one or the other.
func Agree(all []Endpoint) (Family, error) {
	var lack [2][]int
	for i, f := range []Family{IPv4, IPv6} {
		for rank, e := range all {
			if !e.hasFamily(f) {
				lack[i] = append(lack[i], rank)
			}
		}
		if len(lack[i]) == 0 {
			return f, nil
		}
	}
	return 0, fmt.Errorf("%w: the ranks share no version of IP: no IPv4 address at %s; no IPv6 address at %s",
		errNoPath, ranks(lack[0]), ranks(lack[1]))
}

// ranks writes the first of a list.
func ranks(list []int) string {
	const most = 8
	s := "rank"
	for i, r := range list[:min(len(list), most)] {
		if i > 0 {
			s += ","
		}
		s += fmt.Sprintf(" %d", r)
	}
	if len(list) > most {
		s += fmt.Sprintf(" and %d more", len(list)-most)
	}
	return s
}

// Path is one way to a peer.
type Path struct {
	// Local is the address of this rank in the same network; zero where there is none and the system's routes decide.
	Local netip.AddrPort
	// Remote is where to send to.
	Remote netip.AddrPort
	// Payload is how many bytes a datagram may hold at most, as far as both ends know.
	Payload int
	// Most is what it may hold by the interfaces of both ends alone. Payload is less where a router has complained,
	// or where somebody has said so in a router's name.
	Most int
	// Near says that Local and Remote are in one network.
	Near bool
}

// Paths lists the ways from mine to theirs in family f, best first. Those with both ends in one network come before
// the others, by the order of the peer's addresses; among them, a pair of addresses of ours that share a network with
// a pair of theirs makes two paths, so that all Near paths can be used together. A path that is not Near is there for
// when there is no other.
//
// payload asks the system how large a datagram may be (mmsg.PathPayload); the MTU that the peer has at its end bounds
// it. An address to which it finds no way is left out. To an address that both have, if the peer has no other, which
// means one machine, datagrams do not pass its interface, whose MTU does not count. The error matches errNoPath: none
// is left.
func Paths(mine, theirs Endpoint, f Family, payload func(netip.AddrPort) (int, error)) ([]Path, error) {
	var list []Path
	var why []error
	apart := elsewhere(mine, theirs, f)
	used := map[netip.AddrPort]int{} // how often an address of ours is on a path
	for _, t := range theirs.Addrs {
		if FamilyOf(t.Addr.Addr()) != f || apart && mine.hasAddress(t.Addr.Addr().WithZone("")) {
			continue
		}
		p, ok := pathTo(mine, t, used)
		if !ok {
			continue
		}
		n, err := payload(p.Remote)
		if err != nil {
			why = append(why, fmt.Errorf("to %v: %w", p.Remote, err))
			continue
		}
		p.Payload, p.Most = n, n
		if !mine.hasAddress(p.Remote.Addr()) {
			if own := mine.mtu(p, f); own > 0 {
				p.Most = max(n, mmsg.Payload(own, f == IPv4))
			}
			if t.MTU > 0 {
				theirs := mmsg.Payload(t.MTU, f == IPv4)
				p.Payload, p.Most = min(n, theirs), min(p.Most, theirs)
			}
		}
		used[p.Local]++
		list = append(list, p)
	}
	if len(list) == 0 {
		err := fmt.Errorf("%w by %v from %v to %v", errNoPath, f, listed(mine), listed(theirs))
		return nil, errors.Join(append([]error{err}, why...)...)
	}
	slices.SortStableFunc(list, func(a, b Path) int { return rankOf(a) - rankOf(b) })
	return list, nil
}

// elsewhere tells whether theirs has an address that is not of this machine: what both have is then that of a bridge,
// say, which both happen to have, and leads back to this machine.
func elsewhere(mine, theirs Endpoint, f Family) bool {
	for _, t := range theirs.Addrs {
		if a := t.Addr.Addr().WithZone(""); FamilyOf(a) == f && !a.IsLoopback() && !mine.hasAddress(a) {
			return true
		}
	}
	return false
}

// rankOf puts near paths first, and loopback at the end of the others: it leads to the peer only if that is on this
// machine.
func rankOf(p Path) int {
	switch {
	case p.Near:
		return 0
	case p.Remote.Addr().IsLoopback():
		return 2
	}
	return 1
}

// pathTo finds the address of ours that shares a network with t, the one least used of several. A link-local address
// can be reached from such a one only, and means nothing without our name of the interface.
func pathTo(mine Endpoint, t Address, used map[netip.AddrPort]int) (p Path, ok bool) {
	to := t.Addr.Addr().WithZone("")
	p.Remote = netip.AddrPortFrom(to, t.Addr.Port())
	for _, m := range mine.Addrs {
		if !m.Prefix().Contains(to) || !t.Prefix().Contains(m.Addr.Addr().WithZone("")) {
			continue
		}
		if !p.Near || used[m.Addr] < used[p.Local] {
			p.Local, p.Near = m.Addr, true
		}
	}
	if zone := p.Local.Addr().Zone(); zone != "" {
		p.Remote = netip.AddrPortFrom(to.WithZone(zone), t.Addr.Port())
	}
	return p, p.Near || !to.IsLinkLocalUnicast()
}

// mtu is that of the interface by which a path leaves, or the largest that may be meant; 0 if none is known.
func (e Endpoint) mtu(p Path, f Family) (most int) {
	for _, a := range e.Addrs {
		if FamilyOf(a.Addr.Addr()) == f && (!p.Near || a.Addr == p.Local) {
			most = max(most, a.MTU)
		}
	}
	return most
}

// hasAddress says whether ip is one of e's addresses.
func (e Endpoint) hasAddress(ip netip.Addr) bool {
	return slices.ContainsFunc(e.Addrs, func(a Address) bool { return a.Addr.Addr() == ip })
}

func listed(e Endpoint) (list []netip.AddrPort) {
	for _, a := range e.Addrs {
		list = append(list, a.Addr)
	}
	return list
}
