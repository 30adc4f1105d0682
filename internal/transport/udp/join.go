package udp

import (
	"cmp"
	"crypto/ecdh"
	"errors"
	"fmt"
	"net/netip"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/addrs"
	"github.com/golci/golci/internal/transport/udp/faulty"
	"github.com/golci/golci/internal/transport/udp/mmsg"
	"github.com/golci/golci/internal/transport/udp/nic"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// ListenConfig says where a rank receives.
type ListenConfig struct {
	// Interfaces chooses among this machine's, as nic.Select has it.
	Interfaces string
	// Loopback is for jobs whose ranks are all on this machine: only loopback, unless Interfaces says otherwise.
	Loopback bool
	// Mode is udp.Config's: it says whether a key must be drawn.
	Mode seal.Mode
	// Buffer is the bytes wanted for the socket's queues, either way; 0: 4 MiB.
	Buffer int
	// Faults are put between the conduit and its socket, for tests.
	Faults faulty.Faults
	// Portable does without what only this system's sockets can do.
	Portable bool
}

const defaultBuffer = 4 << 20

// Listener is a rank's sockets before it knows the others. It must be connected or closed.
type Listener struct {
	endpoint nic.Endpoint
	private  *ecdh.PrivateKey // nil with seal.Trust
	sockets  map[nic.Family]mmsg.Socket
	faults   faulty.Faults
}

// Listen opens sockets for both families of IP, as far as the interfaces have addresses. It asks the system and does
// not wait. The errors are those of nic.Select, of seal.NewPrivate and of the system.
func Listen(cfg ListenConfig) (*Listener, error) {
	cfg.Buffer = cmp.Or(cfg.Buffer, defaultBuffer)
	ifs, err := addrs.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("udp: interfaces: %w", err)
	}
	spec := cfg.Interfaces
	if cfg.Loopback && (spec == "" || spec == "auto") {
		spec = "127.0.0.1"
	}
	chosen, err := nic.Select(spec, ifs)
	if err != nil {
		return nil, err
	}
	l := &Listener{sockets: map[nic.Family]mmsg.Socket{}, faults: cfg.Faults}
	ports := map[nic.Family]uint16{}
	for _, f := range []nic.Family{nic.IPv4, nic.IPv6} {
		at, only, any := bindAddr(chosen, f)
		if !any {
			continue
		}
		s, err := mmsg.Open(netip.AddrPortFrom(at, 0), mmsg.Options{
			RecvBuffer: cfg.Buffer, SendBuffer: cfg.Buffer, GRO: !cfg.Loopback, Refusals: true, Only: only, Portable: cfg.Portable,
		})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("udp: socket at %v: %w", at, err), l.Close())
		}
		l.sockets[f], ports[f] = s, s.Info().Addr.Port()
	}
	l.endpoint = nic.Endpoint{Incarnation: nic.NewIncarnation(), Addrs: nic.Describe(chosen, ifs, ports[nic.IPv4], ports[nic.IPv6])}
	if cfg.Mode != seal.Trust {
		if l.private, err = seal.NewPrivate(); err != nil {
			return nil, errors.Join(err, l.Close())
		}
		l.endpoint.Public = l.private.PublicKey().Bytes()
	}
	return l, nil
}

// bindAddr is where the socket of a family is bound: at its only address, or at all; then only is what it is to take in.
// any: there is one.
func bindAddr(chosen []netip.Addr, f nic.Family) (at netip.Addr, only []netip.Addr, any bool) {
	for _, a := range chosen {
		if nic.FamilyOf(a) == f {
			only = append(only, a)
		}
	}
	switch {
	case len(only) == 0:
		return at, nil, false
	case len(only) == 1:
		return only[0], nil, true
	case f == nic.IPv6:
		return netip.IPv6Unspecified(), only, true
	}
	return netip.IPv4Unspecified(), only, true
}

// Endpoint is what the other ranks must be told.
func (l *Listener) Endpoint() nic.Endpoint { return l.endpoint }

// Close closes the sockets.
func (l *Listener) Close() error {
	var errs []error
	for _, s := range l.sockets {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// Connect makes the conduit, given the Endpoints of all ranks, by rank. It fills in Wire, Private and Peers of cfg.
// The Listener is used up, also by an error. That tells of ranks without a path, or matches conduit.ErrConfig. It
// matches relay.ErrFaults for faults of ranks that there are not.
func (l *Listener) Connect(all []nic.Endpoint, cfg Config) (*Conduit, error) {
	c, err := l.connectAll(all, cfg)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return c, nil
}

func (l *Listener) connectAll(all []nic.Endpoint, cfg Config) (*Conduit, error) {
	if cfg.Rank < 0 || cfg.Rank >= len(all) || len(all) != cfg.Size {
		return nil, fmt.Errorf("%w: rank %d of %d, with %d endpoints", conduit.ErrConfig, cfg.Rank, cfg.Size, len(all))
	}
	if err := l.faults.Within(cfg.Size); err != nil {
		return nil, err
	}
	family, err := nic.Agree(all)
	if err != nil {
		return nil, err
	}
	cfg.Peers, cfg.Private = make([]Peer, len(all)), l.private
	ranks := map[netip.AddrPort]int{}
	known := map[netip.Addr]int{}
	ask := func(a netip.AddrPort) (int, error) { // the answer is the same for all ranks of a machine
		if n, ok := known[a.Addr()]; ok {
			return n, nil
		}
		n, err := mmsg.PathPayload(a)
		if err == nil {
			known[a.Addr()] = n
		}
		return n, err
	}
	for r := range all {
		cfg.Peers[r].Life, cfg.Peers[r].Public = all[r].Incarnation, all[r].Public
		if r == cfg.Rank {
			continue
		}
		if cfg.Peers[r].Paths, err = paths(l.endpoint, all[r], family, ask); err != nil {
			return nil, fmt.Errorf("rank %d to rank %d: %w", cfg.Rank, r, err)
		}
		for _, p := range cfg.Peers[r].Paths {
			ranks[p.Addr] = r
		}
	}
	l.faults.Rank = cfg.Rank
	l.faults.Who = func(a netip.AddrPort) int {
		if r, ok := ranks[a]; ok {
			return r
		}
		return -1
	}
	l.connectSocket(all, cfg.Rank, family, cfg.Peers)
	if cfg.Wire, err = faulty.New(l.sockets[family], l.faults); err != nil {
		return nil, err
	}
	c, err := New(cfg)
	if err != nil {
		return nil, err
	}
	for f, s := range l.sockets {
		if f != family {
			_ = s.Close() // nothing was sent there
		}
	}
	return c, nil
}

// paths returns network paths to a peer, the best one first. The others are those in a network that both ranks share.
// ask returns how large a datagram to an address may be.
func paths(mine, theirs nic.Endpoint, f nic.Family, ask func(netip.AddrPort) (int, error)) ([]Path, error) {
	all, err := nic.Paths(mine, theirs, f, ask)
	if err != nil {
		return nil, err
	}
	var out []Path
	for i, p := range all {
		if i == 0 || p.Near {
			out = append(out, Path{Addr: p.Remote, Payload: p.Payload, Most: p.Most})
		}
	}
	return out, nil
}

// connectSocket connects the socket of a rank that has one peer. Both ends must have one address, in one network: else
// what the peer sends might come from another address than the one that it receives at.
func (l *Listener) connectSocket(all []nic.Endpoint, rank int, f nic.Family, peers []Peer) {
	s, ok := l.sockets[f].(mmsg.Connector)
	if !ok || len(all) != 2 {
		return
	}
	mine, theirs := l.endpoint.Of(f), all[1-rank].Of(f)
	if len(mine) == 1 && len(theirs) == 1 && mine[0].Prefix() == theirs[0].Prefix() {
		s.Connect(peers[1-rank].Paths[0].Addr) // if not, each datagram names it
	}
}
