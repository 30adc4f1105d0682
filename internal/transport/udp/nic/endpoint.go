package nic

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
)

// Endpoint is what a rank publishes, as JSON, to all others before the first datagram.
type Endpoint struct {
	// Incarnation tells this process from one that had the rank before: random, see NewIncarnation.
	Incarnation uint64
	// Public is its part of the exchange of keys, of keySize bytes (seal.Config.Publics); nil where datagrams are not
	// protected.
	Public []byte
	// Addrs are where it receives, best first; at most maxAddrs.
	Addrs []Address
}

// Address is one of them.
type Address struct {
	// Addr and its port; a zone means something on this machine only, and is ignored on others.
	Addr netip.AddrPort
	// Bits is the length of its network's prefix.
	Bits int
	// MTU of its interface in bytes; 0: not known.
	MTU int
}

// Prefix is the network that the address lies in.
func (a Address) Prefix() netip.Prefix { return network(a.Addr.Addr(), a.Bits) }

// network drops what is not part of the network; an address with a zone lies in the one without.
func network(a netip.Addr, bits int) netip.Prefix {
	return netip.PrefixFrom(a.WithZone(""), bits).Masked()
}

// hasFamily says whether e has an address of family f.
func (e Endpoint) hasFamily(f Family) bool { return len(e.Of(f)) > 0 }

// Of is the addresses of family f.
func (e Endpoint) Of(f Family) (list []Address) {
	for _, a := range e.Addrs {
		if FamilyOf(a.Addr.Addr()) == f {
			list = append(list, a)
		}
	}
	return list
}

// Family is the version of IP.
type Family uint8

const (
	IPv4 Family = 4
	IPv6 Family = 6
)

// String gives the usual name.
func (f Family) String() string { return fmt.Sprintf("IPv%d", uint8(f)) }

// FamilyOf tells the family of an address; 0 for the zero Addr and for IPv4 in the clothes of IPv6, which no socket
// takes.
func FamilyOf(a netip.Addr) Family {
	switch {
	case a.Is4():
		return IPv4
	case a.Is6() && !a.Is4In6():
		return IPv6
	}
	return 0
}

// NewIncarnation draws a random number that is not 0.
func NewIncarnation() uint64 {
	for {
		var b [8]byte
		_, _ = rand.Read(b[:]) // never fails (crypto/rand)
		if n := binary.BigEndian.Uint64(b[:]); n != 0 {
			return n
		}
	}
}

// errEndpoint is matched by every error about an Endpoint's form.
var errEndpoint = errors.New("nic: bad endpoint")

const (
	// maxAddrs is how many addresses an Endpoint has at most.
	maxAddrs = 32

	// keySize is the length of Endpoint.Public in bytes, if there is one.
	keySize = 32

	maxMTU = 1 << 24
)

// Check tells what is wrong with an Endpoint: too many addresses, a key of another length, or an address that nobody
// can send to. The error matches errEndpoint.
func (e Endpoint) Check() error {
	if len(e.Addrs) > maxAddrs {
		return fmt.Errorf("%w: %d addresses, at most %d", errEndpoint, len(e.Addrs), maxAddrs)
	}
	if n := len(e.Public); n != 0 && n != keySize {
		return fmt.Errorf("%w: a key of %d bytes, want %d", errEndpoint, n, keySize)
	}
	for _, a := range e.Addrs {
		if err := a.checkAddress(); err != nil {
			return err
		}
	}
	return nil
}

// checkAddress refuses what nobody can send to.
func (a Address) checkAddress() error {
	ip := a.Addr.Addr()
	switch {
	case FamilyOf(ip) == 0, ip.IsUnspecified(), ip.IsMulticast(), a.Addr.Port() == 0:
		return fmt.Errorf("%w: nobody can send to %v", errEndpoint, a.Addr)
	case a.Bits < 0 || a.Bits > ip.BitLen():
		return fmt.Errorf("%w: %v in a network of %d bits", errEndpoint, a.Addr, a.Bits)
	case a.MTU < 0 || a.MTU > maxMTU:
		return fmt.Errorf("%w: MTU of %d bytes at %v", errEndpoint, a.MTU, a.Addr)
	}
	return nil
}
