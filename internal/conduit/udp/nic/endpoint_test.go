package nic

import (
	"bytes"
	"errors"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func address(addr string, bits, mtu int) Address {
	return Address{Addr: netip.MustParseAddrPort(addr), Bits: bits, MTU: mtu}
}

var exampleKey = []byte("a public key has thirty-two byte")

var example = Endpoint{0x0102030405060708, exampleKey, []Address{address("10.1.2.3:4000", 16, 9000), address("[fd00::5]:4001", 64, 1500)}}

// exampleBytes is the form on the wire, written by hand.
var exampleBytes = slices.Concat([]byte{2, 1, 2, 3, 4, 5, 6, 7, 8, KeySize}, exampleKey, []byte{
	2,
	4, 16, 0x0f, 0xa0, 0, 0, 0x23, 0x28, 10, 1, 2, 3,
	6, 64, 0x0f, 0xa1, 0, 0, 0x05, 0xdc, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5,
})

func TestEndpointForm(t *testing.T) {
	b, err := Append([]byte("before"), example)
	if err != nil || string(b) != "before"+string(exampleBytes) {
		t.Errorf("%x, %v", b, err)
	}
	v, err := Parse(exampleBytes)
	if err != nil || !reflect.DeepEqual(v, example) {
		t.Errorf("%+v, %v", v, err)
	}
	empty, err := Append(nil, Endpoint{Incarnation: 7})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := Parse(empty); err != nil || v.Incarnation != 7 || len(v.Addrs) != 0 || v.Has(IPv4) {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestZonesAreNotPublished(t *testing.T) {
	b, err := Append(nil, Endpoint{1, nil, []Address{address("[fe80::1%eth0]:9", 64, 1500)}})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := Parse(b); err != nil || v.Addrs[0] != address("[fe80::1]:9", 64, 1500) {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestBadEndpoints(t *testing.T) {
	for _, bad := range []Address{
		address("10.1.2.3:0", 8, 1500), address("0.0.0.0:9", 8, 1500), address("[::]:9", 8, 1500), address("224.0.0.1:9", 8, 1500),
		address("10.1.2.3:9", 33, 1500), address("10.1.2.3:9", -1, 1500), address("[fd00::1]:9", 129, 1500),
		address("10.1.2.3:9", 8, -1), address("10.1.2.3:9", 8, maxMTU+1), address("[::ffff:10.1.2.3]:9", 8, 1500),
		{},
	} {
		if b, err := Append(nil, Endpoint{1, nil, []Address{bad}}); !errors.Is(err, ErrEndpoint) {
			t.Errorf("%+v: %x, %v", bad, b, err)
		}
	}
	if _, err := Append(nil, Endpoint{1, nil, make([]Address, MaxAddrs+1)}); !errors.Is(err, ErrEndpoint) {
		t.Error(err)
	}
	if _, err := Append(nil, Endpoint{1, make([]byte, KeySize-1), nil}); !errors.Is(err, ErrEndpoint) {
		t.Error(err)
	}
}

func TestBadBytes(t *testing.T) {
	for n := range exampleBytes {
		if v, err := Parse(exampleBytes[:n]); !errors.Is(err, ErrEndpoint) {
			t.Errorf("the first %d bytes: %+v, %v", n, v, err)
		}
	}
	for _, c := range []struct {
		at   int
		with byte
		why  string
	}{
		{0, 1, "the version before"},
		{0, 3, "version"},
		{9, 0, "no key"},
		{9, 31, "a shorter key"},
		{9, 255, "a longer key"},
		{42, 1, "one address less"},
		{42, 3, "one more"},
		{42, 255, "many more"},
		{43, 6, "wrong family"},
		{43, 0, "none"},
		{44, 33, "bits"},
		{49, 1, "MTU of a megabyte and more"},
		{51, 224, "multicast"},
		{55, 4, "IPv6 as IPv4"},
	} {
		b := bytes.Clone(exampleBytes)
		b[c.at] = c.with
		if c.at == 49 {
			b[47], b[48] = 1, 1
		}
		if v, err := Parse(b); !errors.Is(err, ErrEndpoint) {
			t.Errorf("%s: %+v, %v", c.why, v, err)
		}
	}
	if _, err := Parse(append(bytes.Clone(exampleBytes), 0)); !errors.Is(err, ErrEndpoint) {
		t.Errorf("one byte too many: %v", err)
	}
}

// TestOlderVersion: what ranks of an older program have published is refused with words that say why.
func TestOlderVersion(t *testing.T) {
	old := []byte{1, 1, 2, 3, 4, 5, 6, 7, 8, 0}
	if _, err := Parse(old); !errors.Is(err, ErrEndpoint) || !strings.Contains(err.Error(), "version 1, this is 2; do all ranks run the same program?") {
		t.Error(err)
	}
}

// FuzzEndpoint: what is taken has this one form, and nothing it holds is out of bounds.
func FuzzEndpoint(f *testing.F) {
	f.Add(exampleBytes)
	f.Add([]byte{2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := Parse(b)
		if err != nil {
			if !errors.Is(err, ErrEndpoint) || !reflect.DeepEqual(v, Endpoint{}) {
				t.Fatalf("%+v, %v", v, err)
			}
			return
		}
		again, err := Append(nil, v)
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%x became %x, %v", b, again, err)
		}
		for _, a := range v.Addrs {
			if !a.Prefix().Contains(a.Addr.Addr()) {
				t.Fatalf("%v is not in its own network %v", a.Addr, a.Prefix())
			}
		}
	})
}

func TestIncarnationsDiffer(t *testing.T) {
	if a, b := NewIncarnation(), NewIncarnation(); a == b || a == 0 {
		t.Errorf("%x and %x", a, b)
	}
}
