package nic

import (
	"errors"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/golci/golci/internal/platform/addrs"
)

// errSpec is matched by every error of Select.
var errSpec = errors.New("nic: bad choice of interfaces")

// Select chooses addresses of this machine by a setting: items with commas between, each of them
//
//	eth0  eth*              an interface by its name or a pattern (path.Match): its addresses that are not link-local
//	10.1.0.0/16  fd00::/8   all addresses in a network
//	10.1.2.3  192.168.*     an address, or a pattern of one as it is usually written
//	!docker0                what such an item means is left out
//	auto                    as if nothing was said
//
// By default, or if spec only leaves out, Select takes the first address of each family of every interface that is up.
// It takes no loopback, no link-local address, and no bridge or end of containers (docker*, br-*, virbr*, veth*, cni*,
// ...). If nothing is left it takes loopback.
//
// The result has each address once: IPv4 first, then by MTU, the largest first. Link-local ones have their zone. Of more
// than maxAddrs the best are left. Each family has half of the places, and what the other leaves of its half. Physical
// networks come before others, the first address of each interface before the second of any, then MTU and network
// decide.
//
// An item that means no address of an interface that is up is an error. It matches errSpec, names the item and lists
// what there is. So is a result without any address.
func Select(spec string, ifs []addrs.Interface) ([]netip.Addr, error) {
	wanted, unwanted, err := parseSpec(spec)
	if err != nil {
		return nil, err
	}
	all := homes(ifs)
	for _, item := range wanted {
		if !slices.ContainsFunc(all, func(h home) bool { return h.on.Up && item.means(h) }) {
			return nil, missing(item, all, ifs)
		}
	}
	chosen := choose(all, wanted, unwanted)
	if len(chosen) == 0 && len(wanted) == 0 {
		chosen = choose(all, []item{{kind: loopback}}, unwanted)
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("%w: %q leaves no address; there is: %s", errSpec, spec, inventory(ifs))
	}
	var out []netip.Addr
	for _, h := range best(chosen) {
		out = append(out, h.addr)
	}
	return out, nil
}

func choose(all []home, wanted, unwanted []item) (chosen []home) {
	if len(wanted) == 0 {
		wanted = []item{{kind: auto}}
	}
	in := func(list []item, h home) bool {
		return slices.ContainsFunc(list, func(i item) bool { return i.means(h) })
	}
	seen := map[netip.Addr]bool{}
	for _, h := range all {
		if h.on.Up && in(wanted, h) && !in(unwanted, h) && !seen[h.addr] {
			seen[h.addr] = true
			chosen = append(chosen, h)
		}
	}
	return chosen
}

// missing tells why an item means nothing.
func missing(i item, all []home, ifs []addrs.Interface) error {
	for _, h := range all {
		if i.means(h) {
			return fmt.Errorf("%w: %q is on %s, which is down; there is: %s", errSpec, i.text, h.on.Name, inventory(ifs))
		}
	}
	return fmt.Errorf("%w: nothing here is %q; there is: %s", errSpec, i.text, inventory(ifs))
}

type kind uint8

const (
	auto kind = iota
	loopback
	byName
	byAddress
	byNetwork
)

// item is one of a setting.
type item struct {
	kind    kind
	text    string
	pattern string
	network netip.Prefix
}

func parseSpec(spec string) (wanted, unwanted []item, err error) {
	if strings.TrimSpace(spec) == "" {
		return nil, nil, nil
	}
	for s := range strings.SplitSeq(spec, ",") {
		s = strings.TrimSpace(s)
		not := strings.HasPrefix(s, "!")
		i, err := parseItem(strings.TrimSpace(strings.TrimPrefix(s, "!")))
		if err != nil {
			return nil, nil, fmt.Errorf("%w in %q", err, spec)
		}
		switch {
		case not && i.kind == auto:
			return nil, nil, fmt.Errorf("%w: %q in %q leaves out nothing in particular", errSpec, s, spec)
		case not:
			unwanted = append(unwanted, i)
		default:
			wanted = append(wanted, i)
		}
	}
	if len(wanted) == 1 && wanted[0].kind == auto { // the same as nothing said: loopback will do
		wanted = nil
	}
	return wanted, unwanted, nil
}

func parseItem(s string) (i item, err error) {
	i.text = s
	_, notPattern := path.Match(s, "")
	switch {
	case s == "":
		return i, fmt.Errorf("%w: an empty item", errSpec)
	case s == "auto":
		return i, nil
	case strings.Contains(s, "/"):
		i.kind = byNetwork
		if i.network, err = netip.ParsePrefix(s); err != nil {
			return i, fmt.Errorf("%w: %q is not a network: %w", errSpec, s, err)
		}
		i.network = i.network.Masked()
	case notPattern != nil:
		return i, fmt.Errorf("%w: %q is not a pattern: %w", errSpec, s, notPattern)
	case looksLikeAddress(s):
		i.kind, i.pattern = byAddress, s
		if a, err := netip.ParseAddr(s); err == nil {
			i.pattern = a.String()
		} else if !strings.ContainsAny(s, "*?[") {
			return i, fmt.Errorf("%w: %q is not an address: %w", errSpec, s, err)
		}
	default:
		i.kind, i.pattern = byName, s
	}
	return i, nil
}

// looksLikeAddress tells addresses and their patterns from names: IPv6 has colons, IPv4 nothing but digits and dots.
func looksLikeAddress(s string) bool {
	return strings.Contains(s, ":") || strings.Contains(s, ".") && strings.Trim(s, "0123456789.*?[]-") == ""
}

// means says whether an item is about an address.
func (i item) means(h home) bool {
	switch i.kind {
	case auto:
		return !h.on.Loopback && addrs.Usable(h.addr, false) && !bridge(h.on.Name) && h.turn() == 0
	case loopback:
		return h.on.Loopback && h.addr.IsLoopback()
	case byName:
		return addrs.Usable(h.addr, true) && match(i.pattern, h.on.Name)
	case byNetwork:
		return i.network.Contains(h.addr.WithZone(""))
	}
	return match(i.pattern, h.addr.String()) || match(i.pattern, h.addr.WithZone("").String())
}

func match(pattern, s string) bool {
	ok, _ := path.Match(pattern, s) // the pattern was tried when it was read
	return ok
}

// bridges are names of interfaces that lead to containers and virtual machines of this machine.
var bridges = []string{"docker*", "br-*", "virbr*", "veth*", "vnet*", "lxcbr*", "lxdbr*", "cni*", "flannel*", "cali*", "podman*"}

func bridge(name string) bool {
	return slices.ContainsFunc(bridges, func(p string) bool { return match(p, name) })
}
