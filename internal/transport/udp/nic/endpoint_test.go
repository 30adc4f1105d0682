package nic

import (
	"encoding/json"
	"errors"
	"math"
	"net/netip"
	"reflect"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func address(addr string, bits, mtu int) Address {
	return Address{Addr: netip.MustParseAddrPort(addr), Bits: bits, MTU: mtu}
}

var exampleKey = []byte("a public key has thirty-two byte")

var example = Endpoint{0x0102030405060708, exampleKey, []Address{address("10.1.2.3:4000", 16, 9000), address("[fd00::5]:4001", 64, 1500)}}

// received is what another rank makes of bytes.
func received(b []byte) (v Endpoint, err error) {
	if err = json.Unmarshal(b, &v); err == nil {
		err = v.Check()
	}
	return v, err
}

func TestEndpointTravels(t *testing.T) {
	for _, e := range []Endpoint{example, {Incarnation: math.MaxUint64}} {
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := received(b); err != nil || !reflect.DeepEqual(v, e) {
			t.Errorf("%s: %+v, %v", b, v, err)
		}
	}
}

func TestBadEndpoints(t *testing.T) {
	for _, bad := range []Address{
		address("10.1.2.3:0", 8, 1500), address("0.0.0.0:9", 8, 1500), address("[::]:9", 8, 1500), address("224.0.0.1:9", 8, 1500),
		address("10.1.2.3:9", 33, 1500), address("10.1.2.3:9", -1, 1500), address("[fd00::1]:9", 129, 1500),
		address("10.1.2.3:9", 8, -1), address("10.1.2.3:9", 8, maxMTU+1), address("[::ffff:10.1.2.3]:9", 8, 1500),
		{},
	} {
		if err := (Endpoint{1, nil, []Address{bad}}).Check(); !errors.Is(err, errEndpoint) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if err := (Endpoint{1, nil, make([]Address, maxAddrs+1)}).Check(); !errors.Is(err, errEndpoint) {
		t.Error(err)
	}
	if err := (Endpoint{1, make([]byte, keySize-1), nil}).Check(); !errors.Is(err, errEndpoint) {
		t.Error(err)
	}
}

// FuzzEndpoint: nothing that is taken is out of bounds.
func FuzzEndpoint(f *testing.F) {
	b, _ := json.Marshal(example)
	f.Add(b)
	f.Add(b[:len(b)-1])
	f.Add([]byte{2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := received(b)
		if err != nil {
			return
		}
		if len(v.Addrs) > maxAddrs {
			t.Fatalf("%d addresses", len(v.Addrs))
		}
		for _, a := range v.Addrs {
			if !a.Prefix().Contains(a.Addr.Addr().WithZone("")) {
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
