package nic

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
)

// Endpoint is what a rank publishes to all others before the first datagram.
type Endpoint struct {
	// Incarnation tells this process from one that had the rank before: random, see NewIncarnation.
	Incarnation uint64
	// Public is its part of the exchange of keys, of KeySize bytes (seal.Config.Publics); nil where datagrams are not
	// protected.
	Public []byte
	// Addrs are where it receives, best first; at most MaxAddrs.
	Addrs []Address
}

// Address is one of them.
type Address struct {
	// Addr and its port; a zone means something on this machine only, and is not published.
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

// Has says whether e has an address of family f.
func (e Endpoint) Has(f Family) bool {
	for _, a := range e.Addrs {
		if FamilyOf(a.Addr.Addr()) == f {
			return true
		}
	}
	return false
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

// ErrEndpoint is matched by every error about an Endpoint's form.
var ErrEndpoint = errors.New("nic: bad endpoint")

const (
	// MaxAddrs is how many addresses an Endpoint has at most.
	MaxAddrs = 32

	// KeySize is the length of Endpoint.Public in bytes, if there is one.
	KeySize = 32

	version   = 2
	fixedSize = 1 + 8 + 1 + 1 // version, incarnation, length of the key, count
	addrFixed = 1 + 1 + 2 + 4
	maxMTU    = 1 << 24
)

// Append writes v behind dst: together with Parse it is a boot.Codec. All numbers are big-endian:
//
//	version 1 | incarnation 8 | 0 or 32 | key | count 1 | count times: family 1, bits 1, port 2, MTU 4, address 4 or 16
//
// The error matches ErrEndpoint: a key of another length, too many addresses, or one that nobody can send to.
func Append(dst []byte, v Endpoint) ([]byte, error) {
	if len(v.Addrs) > MaxAddrs {
		return nil, fmt.Errorf("%w: %d addresses, at most %d", ErrEndpoint, len(v.Addrs), MaxAddrs)
	}
	if n := len(v.Public); n != 0 && n != KeySize {
		return nil, fmt.Errorf("%w: a key of %d bytes, want %d", ErrEndpoint, n, KeySize)
	}
	dst = append(dst, version)
	dst = binary.BigEndian.AppendUint64(dst, v.Incarnation)
	dst = append(append(dst, byte(len(v.Public))), v.Public...)
	dst = append(dst, byte(len(v.Addrs)))
	for _, a := range v.Addrs {
		if err := a.check(); err != nil {
			return nil, err
		}
		dst = append(dst, byte(FamilyOf(a.Addr.Addr())), byte(a.Bits))
		dst = binary.BigEndian.AppendUint16(dst, a.Addr.Port())
		dst = binary.BigEndian.AppendUint32(dst, uint32(a.MTU))
		dst = append(dst, a.Addr.Addr().AsSlice()...)
	}
	return dst, nil
}

// Parse reads what Append wrote, and nothing else: an Endpoint has one form. The error matches ErrEndpoint.
func Parse(b []byte) (v Endpoint, err error) {
	if len(b) > 0 && b[0] != version {
		return v, fmt.Errorf("%w: version %d, this is %d; do all ranks run the same program?", ErrEndpoint, b[0], version)
	}
	if len(b) < fixedSize {
		return v, fmt.Errorf("%w: %d bytes, at least %d", ErrEndpoint, len(b), fixedSize)
	}
	incarnation := binary.BigEndian.Uint64(b[1:])
	public, rest, err := parseKey(b[9:])
	if err != nil {
		return v, err
	}
	count := int(rest[0])
	if count > MaxAddrs {
		return v, fmt.Errorf("%w: %d addresses, at most %d", ErrEndpoint, count, MaxAddrs)
	}
	rest = rest[1:]
	var addrs []Address
	for i := range count {
		var a Address
		if a, rest, err = parseAddress(rest); err != nil {
			return v, fmt.Errorf("%w (address %d of %d)", err, i, count)
		}
		addrs = append(addrs, a)
	}
	if len(rest) > 0 {
		return v, fmt.Errorf("%w: %d bytes behind %d addresses", ErrEndpoint, len(rest), count)
	}
	return Endpoint{Incarnation: incarnation, Public: public, Addrs: addrs}, nil
}

// parseKey reads the key behind its length, and leaves a byte at least.
func parseKey(b []byte) (key, rest []byte, err error) {
	n := int(b[0])
	if n != 0 && n != KeySize || len(b) < 1+n+1 {
		return nil, nil, fmt.Errorf("%w: a key of %d bytes and %d bytes behind it, want %d", ErrEndpoint, n, len(b)-1-n, KeySize)
	}
	if n > 0 {
		key = b[1 : 1+n : 1+n]
	}
	return key, b[1+n:], nil
}

func parseAddress(b []byte) (a Address, rest []byte, err error) {
	size := 16
	if len(b) > 0 && Family(b[0]) == IPv4 {
		size = 4
	}
	if len(b) < addrFixed+size {
		return a, nil, fmt.Errorf("%w: %d bytes for an address of %d", ErrEndpoint, len(b), addrFixed+size)
	}
	ip, _ := netip.AddrFromSlice(b[addrFixed : addrFixed+size])
	a = Address{
		Addr: netip.AddrPortFrom(ip, binary.BigEndian.Uint16(b[2:])), Bits: int(b[1]), MTU: int(binary.BigEndian.Uint32(b[4:])),
	}
	if FamilyOf(ip) != Family(b[0]) {
		return a, nil, fmt.Errorf("%w: %v as IP version %d", ErrEndpoint, ip, b[0])
	}
	return a, b[addrFixed+size:], a.check()
}

// check refuses what nobody can send to.
func (a Address) check() error {
	ip := a.Addr.Addr()
	switch {
	case FamilyOf(ip) == 0, ip.IsUnspecified(), ip.IsMulticast(), a.Addr.Port() == 0:
		return fmt.Errorf("%w: nobody can send to %v", ErrEndpoint, a.Addr)
	case a.Bits < 0 || a.Bits > ip.BitLen():
		return fmt.Errorf("%w: %v in a network of %d bits", ErrEndpoint, a.Addr, a.Bits)
	case a.MTU < 0 || a.MTU > maxMTU:
		return fmt.Errorf("%w: MTU of %d bytes at %v", ErrEndpoint, a.MTU, a.Addr)
	}
	return nil
}
