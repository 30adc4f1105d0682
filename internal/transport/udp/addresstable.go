package udp

import (
	"fmt"
	"math"
	"net/netip"
	"slices"

	"github.com/golci/golci/conduit"
)

// addressTable is the address table: where datagrams to each peer go. A rank of a large job knows most peers by name
// only, so it takes 20 bytes a path. Paths are read when a peer becomes known to the core, and kept with its peer. It
// never changes.
type addressTable struct {
	addrs []pathAddr
	first []uint32 // by peer: its first place, and the end; nil if each peer has one
	kinds []kind
}

// pathAddr is a Path. Most paths have much in common.
type pathAddr struct {
	ip   [16]byte
	port uint16
	kind uint16
}

// kind is what paths have in common.
type kind struct {
	payload, most int
	zone          string
	v4            bool
}

func newAddressTable(peers []Peer) (*addressTable, error) {
	b := &addressTable{addrs: make([]pathAddr, 0, len(peers))}
	if slices.ContainsFunc(peers, func(p Peer) bool { return len(p.Paths) > 1 }) {
		b.first = make([]uint32, 0, len(peers)+1)
	}
	for _, p := range peers {
		if b.first != nil {
			b.first = append(b.first, uint32(len(b.addrs)))
		} else if len(p.Paths) == 0 {
			b.addrs = append(b.addrs, pathAddr{}) // the rank itself
		}
		for _, path := range p.Paths {
			b.addrs = append(b.addrs, b.placeOf(path))
		}
	}
	if b.first != nil {
		b.first = append(b.first, uint32(len(b.addrs)))
	}
	if len(b.kinds) > math.MaxUint16 {
		return nil, fmt.Errorf("%w: paths to peers have %d different sizes and zones", conduit.ErrConfig, len(b.kinds))
	}
	return b, nil
}

func (b *addressTable) placeOf(p Path) pathAddr {
	a := p.Addr.Addr()
	k := kind{p.Payload, p.Most, a.Zone(), a.Is4()}
	i := slices.Index(b.kinds, k)
	if i < 0 {
		i = len(b.kinds)
		b.kinds = append(b.kinds, k)
	}
	return pathAddr{ip: a.As16(), port: p.Addr.Port(), kind: uint16(i)}
}

// paths makes the Paths of a peer, which is not the rank itself.
func (b *addressTable) paths(peer int) []Path {
	from, to := peer, peer+1
	if b.first != nil {
		from, to = int(b.first[peer]), int(b.first[peer+1])
	}
	out := make([]Path, 0, to-from)
	for _, p := range b.addrs[from:to] {
		k := b.kinds[p.kind]
		a := netip.AddrFrom16(p.ip).WithZone(k.zone)
		if k.v4 {
			a = a.Unmap()
		}
		out = append(out, Path{Addr: netip.AddrPortFrom(a, p.port), Payload: k.payload, Most: k.most})
	}
	return out
}
