package mesh

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/golci/golci/internal/job/authconn"
	"github.com/golci/golci/internal/platform/addrs"
)

// ErrGone is wrapped by what Send returns for a rank whose process has ended or closed its Node, or whose machine says
// nothing.
var ErrGone = errors.New("golci: the rank is gone")

// errArgument is wrapped by complaints about arguments.
var errArgument = errors.New("golci: bad argument")

// label changes with any change of the conversation. The handshake takes half the time with X25519 alone. The default's
// secrets would outlast exit codes.
const label = "golci mesh 4"

// defaultSilence is how long a machine may say nothing before its ranks count as gone.
const defaultSilence = 4 * time.Second

// maxMessage is the largest message in bytes, unless Config.Most says otherwise.
const maxMessage = 128

// Config of a Node.
type Config struct {
	Rank, Size int
	Key        []byte // the job's secret
	// Take is called for every message, one after the other. It must not keep b, nor call Close.
	Take func(from int, b []byte)
	// Where tells the addresses of a rank's Node. It is asked once for each rank that something is sent to, and may
	// block.
	Where func(ctx context.Context, rank int) ([]netip.AddrPort, error)
	// Silence is how long a machine may say nothing before its ranks count as gone; 0: defaultSilence.
	Silence time.Duration
	// Most is the largest message in bytes, the same on all ranks; 0: maxMessage.
	Most int

	auth time.Duration // for callers to prove themselves; 0: authTime
	dial dialer        // nil: dialTCP
}

// dialer makes a connection to an address. It gives up before silence is over.
type dialer func(ctx context.Context, addr netip.AddrPort, silence time.Duration) (net.Conn, error)

// Node is one rank's end of the mesh. It is safe for concurrent use.
type Node struct {
	cfg   Config
	id    *authconn.Identity
	door  *authconn.Door // of those who call
	host  []netip.Prefix // addresses of this machine
	addrs []netip.AddrPort
	lns   []net.Listener
	ctx   context.Context // ends with the Node
	stop  context.CancelFunc
	wg    sync.WaitGroup // its goroutines

	takeMu sync.Mutex
	last   map[int]uint64 // number of the last message taken of each rank; guarded by takeMu

	mu     sync.Mutex // guards the rest; nothing blocks under it
	closed bool
	live   map[net.Conn]bool   // proven, in either direction
	in     map[int]net.Conn    // of live: the connections of each rank that has called, by the name of admitCaller
	peers  map[int]*peer       // that something was sent to
	silent map[netip.Addr]bool // of machines that have said nothing for too long
}

// Listen makes the Node of a rank, which others can reach from now on. It listens at the addresses at, which are this
// machine's. Without any it listens at all, and Addrs are those by which others may find it. It must be closed. Errors:
// those of the sockets.
func Listen(cfg Config, at ...netip.Addr) (*Node, error) {
	if cfg.Silence <= 0 {
		cfg.Silence = defaultSilence
	}
	if cfg.Most <= 0 {
		cfg.Most = maxMessage
	}
	if cfg.auth <= 0 {
		cfg.auth = authTime
	}
	if cfg.dial == nil {
		cfg.dial = dialTCP
	}
	id, err := authconn.New(cfg.Key, label, tls.X25519)
	if err != nil {
		return nil, err
	}
	host, err := addrs.Up()
	if err != nil {
		return nil, fmt.Errorf("golci: rank %d: %w", cfg.Rank, err)
	}
	n := &Node{
		cfg: cfg, id: id, host: host, door: authconn.NewDoor(maxEarly), last: map[int]uint64{}, live: map[net.Conn]bool{},
		in: map[int]net.Conn{}, peers: map[int]*peer{}, silent: map[netip.Addr]bool{},
	}
	n.ctx, n.stop = context.WithCancel(context.Background())
	if err := n.listenAll(at); err != nil {
		return nil, errors.Join(fmt.Errorf("golci: rank %d: %w", cfg.Rank, err), n.Close())
	}
	return n, nil
}

func (n *Node) listenAll(at []netip.Addr) error {
	if len(at) > 0 {
		for _, a := range at[:min(len(at), maxAddrs)] {
			port, err := n.openPort(netip.AddrPortFrom(a, 0).String())
			if err != nil {
				return err
			}
			n.addrs = append(n.addrs, netip.AddrPortFrom(a, port))
		}
		return nil
	}
	port, err := n.openPort(":0")
	for _, a := range reachableAt(n.host) {
		n.addrs = append(n.addrs, netip.AddrPortFrom(a, port))
	}
	return err
}

// openPort listens at addr and returns the port.
func (n *Node) openPort(addr string) (uint16, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return 0, err
	}
	n.lns = append(n.lns, ln)
	n.wg.Go(func() {
		n.door.Accept(ln, func(c net.Conn) {
			if !n.startGo(func() { n.serveConn(c) }) {
				n.dropConn(c)
			}
		})
	})
	return ln.Addr().(*net.TCPAddr).AddrPort().Port(), nil
}

// Addrs are the addresses by which other ranks may find this Node.
func (n *Node) Addrs() []netip.AddrPort { return n.addrs }

// Close ends all connections and waits until Take has returned and no goroutine is left. Sends that are under way end
// with net.ErrClosed. A second call does nothing.
func (n *Node) Close() error {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.stop()
	var err error
	for _, ln := range n.lns {
		if e := ln.Close(); e != nil && !errors.Is(e, net.ErrClosed) {
			err = errors.Join(err, e)
		}
	}
	n.door.Close()
	n.mu.Lock()
	for c := range n.live {
		c.Close()
	}
	n.mu.Unlock()
	n.wg.Wait()
	return err
}

// startGo runs f in a goroutine of the Node, unless it is closed.
func (n *Node) startGo(f func()) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return false
	}
	n.wg.Go(f)
	return true
}

// keepConn notes a proven connection, unless the Node is closed.
func (n *Node) keepConn(c net.Conn) bool {
	n.door.Leave(c)
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.closed {
		n.live[c] = true
	}
	return !n.closed
}

// dropConn closes a connection and forgets it.
func (n *Node) dropConn(c net.Conn) {
	c.Close()
	n.door.Leave(c)
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.live, c)
}

// noteFallen notes that the machine of a rank is silent. Its other ranks then count as gone as well, so that a machine
// is waited for once.
func (n *Node) noteFallen(addrs []netip.AddrPort) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, a := range addrs {
		n.silent[a.Addr()] = true
	}
}

// haveFallen reports whether each of addrs is on a machine that noteFallen has marked silent; true for no addrs.
func (n *Node) haveFallen(addrs []netip.AddrPort) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, a := range addrs {
		if !n.silent[a.Addr()] {
			return false
		}
	}
	return true
}
