// Package relay puts a bad network between real processes that talk over UDP: Command is golci relay.
package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/golci/golci/internal/transport/badnet"
)

// Config of a Relay.
type Config struct {
	// Listen is the address for clients; To is the server.
	Listen, To netip.AddrPort
	// Faults of both directions, or with OneWay of that to the server only.
	Faults badnet.Faults
	OneWay bool
	// Clients is the most clients served, each from a socket of its own; 0: 1024. Packets of others are counted as
	// Refused.
	Clients int
}

// Totals tell what a Relay did, all clients together.
type Totals struct {
	Clients, Refused uint64
	To, From         badnet.Counts // to the server, and from it
}

// Relay passes packets between clients and one server. serveClients owns it.
type Relay struct {
	cfg   Config
	conn  *net.UDPConn
	began time.Time
	work  sync.WaitGroup

	mu       sync.Mutex // guards the rest
	sessions map[netip.AddrPort]*session
	refused  uint64
}

// session is one client: its way to the server, and the one back.
type session struct {
	upstream *net.UDPConn
	to, from *direction
}

const defaultClients = 1024

// listenRelay opens the relay's socket; serveClients does the work. The errors match badnet.ErrFaults or are the
// system's.
func listenRelay(cfg Config) (*Relay, error) {
	if _, err := badnet.New(cfg.Faults); err != nil {
		return nil, err
	}
	if !cfg.To.IsValid() || cfg.To.Port() == 0 {
		return nil, fmt.Errorf("%w: the server's address is %v", badnet.ErrFaults, cfg.To)
	}
	if cfg.Clients <= 0 {
		cfg.Clients = defaultClients
	}
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(cfg.Listen))
	if err != nil {
		return nil, err
	}
	return &Relay{cfg: cfg, conn: conn, began: time.Now(), sessions: map[netip.AddrPort]*session{}}, nil
}

// Addr is where clients send to.
func (r *Relay) Addr() netip.AddrPort { return r.conn.LocalAddr().(*net.UDPAddr).AddrPort() }

// serveClients passes packets until ctx ends, and ends what it started. Packets still held are lost. It must be called
// once.
func (r *Relay) serveClients(ctx context.Context) error {
	ended := context.AfterFunc(ctx, func() { _ = r.conn.Close() })
	defer ended()
	err := r.receivePacket()
	_ = r.conn.Close()
	r.mu.Lock()
	for _, s := range r.sessions {
		_ = s.upstream.Close()
		s.to.closeDirection()
		s.from.closeDirection()
	}
	r.mu.Unlock()
	r.work.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (r *Relay) receivePacket() error {
	buf := make([]byte, 1<<16)
	for {
		n, from, err := r.conn.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return err
		}
		if err != nil {
			continue // news of a client that is gone
		}
		if s := r.sessionOf(from); s != nil {
			s.to.pushPacket(buf[:n])
		}
	}
}

func (r *Relay) now() time.Duration { return time.Since(r.began) }

// sessionOf finds a client's, or makes one; nil if there are too many, or no socket is to be had.
func (r *Relay) sessionOf(client netip.AddrPort) *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.sessions[client]; s != nil {
		return s
	}
	s := r.newSession(client)
	if s == nil {
		r.refused++
	}
	return s
}

func (r *Relay) newSession(client netip.AddrPort) *session {
	if len(r.sessions) >= r.cfg.Clients {
		return nil
	}
	upstream, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(r.cfg.To))
	if err != nil {
		return nil
	}
	n := uint64(len(r.sessions))
	s := &session{upstream: upstream}
	s.to = newDirection(r.faultsOf(2*n, true), r.now, func(p []byte) { writePacket(upstream, p) })
	s.from = newDirection(r.faultsOf(2*n+1, false), r.now, func(p []byte) { _, _ = r.conn.WriteToUDPAddrPort(p, client) })
	r.sessions[client] = s
	r.work.Go(func() { r.answerSession(s) })
	return s
}

// writePacket sends a packet. The system may report an earlier one's error once, and then does not send this one.
func writePacket(c *net.UDPConn, packet []byte) {
	if _, err := c.Write(packet); err != nil {
		_, _ = c.Write(packet)
	}
}

// faultsOf of one direction: each has its own dice, by the order in which clients came.
func (r *Relay) faultsOf(lane uint64, to bool) badnet.Faults {
	if r.cfg.OneWay && !to {
		return badnet.Faults{}
	}
	f := r.cfg.Faults
	f.Seed += lane * 0x9e3779b97f4a7c15
	return f
}

func (r *Relay) answerSession(s *session) {
	buf := make([]byte, 1<<16)
	for {
		n, err := s.upstream.Read(buf)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // the server is not there (yet): an ICMP message was the answer
			time.Sleep(time.Millisecond)
		default:
			s.from.pushPacket(buf[:n])
		}
	}
}

// sumTotals may be called by all at any time.
func (r *Relay) sumTotals() Totals {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := Totals{Clients: uint64(len(r.sessions)), Refused: r.refused}
	for _, s := range r.sessions {
		t.To.Add(s.to.counts())
		t.From.Add(s.from.counts())
	}
	return t
}
