package nic

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/golci/golci/internal/platform/addrs"
)

// best leaves the maxAddrs best of chosen, in their order. Each family keeps half of them, and what the other leaves
// of its half: which one the job uses is known only when all ranks have told theirs. Machines in the same networks are to be left with addresses that share networks. So
// the order within a family looks, as long as it can, only at what is the same on all of them.
func best(chosen []home) []home {
	if len(chosen) <= maxAddrs {
		return chosen
	}
	var of [2][]home
	for _, h := range chosen {
		i := 0
		if FamilyOf(h.addr) == IPv6 {
			i = 1
		}
		of[i] = append(of[i], h)
	}
	const half = maxAddrs / 2
	kept := map[netip.Addr]bool{}
	for i, list := range of {
		other := len(of[1-i])
		slices.SortStableFunc(list, better)
		for _, h := range list[:min(len(list), max(half, maxAddrs-other))] {
			kept[h.addr] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(chosen), func(h home) bool { return !kept[h.addr] })
}

// better orders addresses of one family: physical networks before others, the first address of each interface before
// the second of any, large MTUs before small ones, then by network.
func better(a, b home) int {
	return cmp.Or(
		cmp.Compare(a.class(), b.class()),
		cmp.Compare(a.turn(), b.turn()),
		cmp.Compare(b.on.MTU, a.on.MTU),
		network(a.addr, a.bits).Compare(network(b.addr, b.bits)),
	)
}

// class is lower the more likely an address leads to other machines.
func (h home) class() int {
	switch {
	case h.on.Loopback || h.addr.IsLoopback():
		return 3
	case bridge(h.on.Name) || !addrs.Usable(h.addr, true):
		return 2
	case !h.on.Physical:
		return 1
	}
	return 0
}

// turn is how many addresses of its family come before h on its interface, link-local ones aside.
func (h home) turn() (n int) {
	for _, p := range h.on.Prefixes[:h.nth] {
		if FamilyOf(p.Addr()) == FamilyOf(h.addr) && addrs.Usable(p.Addr(), true) {
			n++
		}
	}
	return n
}
