// Package serve runs a PMI-1 server over connections: the driver around the state machine of package pmi. The launcher
// uses it with one socket pair a rank, and the rendezvous of package boot with one accepted connection a rank.
package serve

import (
	"bufio"
	"encoding/base64"
	"net"
	"sync"
	"time"

	"github.com/golci/golci/internal/job/boot/pmi"
)

// writeTimeout bounds how long a rank that does not read can hold the server up. The lines are short and a rank has one
// request outstanding, so a socket buffer is never full unless the rank misbehaves.
const writeTimeout = 2 * time.Second

// Hooks report what the server cannot settle by itself. They are called without any lock held, from the goroutine of a
// connection or of the caller. They may call the Server, but not Close.
type Hooks struct {
	// Fail: the job cannot go on, for the reason in text; it should end with code.
	Fail func(rank, code int, text string)
	// Leave: rank is about to end with code, as all ranks have agreed; text says why, or is empty. May be nil.
	Leave func(rank, code int, text string)
	// Report: rank writes a report, and goes on with it. May be nil.
	Report func(rank int)
	// Spawn: rank wants processes started, which text describes. Answer is to be called for it, once. May be nil.
	Spawn func(rank int, text string)
	// Ready: all ranks of this server can be reached. May be nil.
	Ready func()
	// EOF: the connection of rank has ended. Nil means that the rank has gone with it; a launcher that waits for the
	// rank's process knows better and calls Gone then.
	EOF func(rank int)
}

// Server is safe for concurrent use.
type Server struct {
	hooks Hooks
	wg    sync.WaitGroup // the connections' goroutines

	mu     sync.Mutex
	core   *pmi.Server
	conns  map[int]net.Conn
	closed bool
}

// New makes a server for the job cfg.
func New(cfg pmi.Config, hooks Hooks) (*Server, error) {
	core, err := pmi.NewServer(cfg)
	if err != nil {
		return nil, err
	}
	return &Server{hooks: hooks, core: core, conns: map[int]net.Conn{}}, nil
}

// Attach serves rank over c, which the server owns from now on. A rank attaches once; a second connection for it, or
// one after Close, is closed and false returned.
func (s *Server) Attach(rank int, c net.Conn) bool {
	return s.AttachReader(rank, c, bufio.NewReaderSize(c, pmi.MaxRead))
}

// AttachReader is Attach for a connection of which r has already read a part.
func (s *Server) AttachReader(rank int, c net.Conn, r *bufio.Reader) bool {
	s.mu.Lock()
	_, twice := s.conns[rank]
	if twice || s.closed {
		s.mu.Unlock()
		c.Close()
		return false
	}
	s.conns[rank] = c
	s.wg.Add(1)
	s.mu.Unlock()
	go func() {
		defer s.wg.Done()
		s.readRank(rank, r)
		c.Close()
		if s.hooks.EOF != nil {
			s.hooks.EOF(rank)
			return
		}
		s.Gone(rank)
	}()
	return true
}

// Gone tells the server that rank has ended; see pmi.Server.Gone.
func (s *Server) Gone(rank int) {
	s.mu.Lock()
	rest := s.doActions(s.core.Gone(rank))
	s.mu.Unlock()
	s.reportRest(rest)
}

// Finalized says whether rank has ended its conversation in order.
func (s *Server) Finalized(rank int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.core.Finalized(rank)
}

// Joined says whether rank has begun its conversation.
func (s *Server) Joined(rank int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.core.Joined(rank)
}

// Publish makes a value of the server's own visible to all ranks; see pmi.Server.Publish.
func (s *Server) Publish(key, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.core.Publish(key, value)
}

// HangUp closes all connections, and takes no more. It does not wait, so a hook may call it.
func (s *Server) HangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, c := range s.conns {
		c.Close()
	}
}

// Close is HangUp, and waits for the goroutines of the connections. A hook must not call it.
func (s *Server) Close() {
	s.HangUp()
	s.wg.Wait()
}

func (s *Server) readRank(rank int, r *bufio.Reader) {
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return
		}
		s.mu.Lock()
		rest := s.doActions(s.core.Handle(rank, line))
		s.mu.Unlock()
		s.reportRest(rest)
	}
}

// doActions does under s.mu what can be done there, so that answers leave in the order of the state machine. It returns
// the calls of the hooks.
func (s *Server) doActions(actions []pmi.Action) (rest []pmi.Action) {
	for _, a := range actions {
		c := s.conns[a.Rank]
		switch a.Kind {
		case pmi.Send:
			s.writeMsg(c, a.Msg)
		case pmi.Hang:
			c.Close()
		case pmi.Fail, pmi.Leave, pmi.Report, pmi.Spawn, pmi.Ready:
			rest = append(rest, a)
		}
	}
	return rest
}

func (s *Server) writeMsg(c net.Conn, m pmi.Msg) {
	if c == nil {
		return
	}
	line, err := m.Append(nil)
	if err != nil { // only a malformed answer of our own; the client then sees the end of its connection
		c.Close()
		return
	}
	_ = c.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := c.Write(line); err != nil {
		c.Close()
	}
}

func (s *Server) reportRest(rest []pmi.Action) {
	for _, a := range rest {
		switch h := s.hooks; {
		case a.Kind == pmi.Fail && h.Fail != nil:
			h.Fail(a.Rank, a.Code, a.Text)
		case a.Kind == pmi.Leave && h.Leave != nil:
			h.Leave(a.Rank, a.Code, a.Text)
		case a.Kind == pmi.Report && h.Report != nil:
			h.Report(a.Rank)
		case a.Kind == pmi.Spawn && h.Spawn != nil:
			h.Spawn(a.Rank, a.Text)
		case a.Kind == pmi.Ready && h.Ready != nil:
			h.Ready()
		}
	}
}

// Answer sends rank the answer to its request to start processes.
func (s *Server) Answer(rank int, text string) {
	m := pmi.M(pmi.CmdSpawned, "rc", "0", pmi.FieldText, base64.RawURLEncoding.EncodeToString([]byte(text)))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeMsg(s.conns[rank], m)
}
