package boot

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/golci/golci/internal/job/authconn"
	"github.com/golci/golci/internal/job/boot/pmi"
	"github.com/golci/golci/internal/job/boot/serve"
)

// maxEarly bounds the connections that have said nothing yet. Those from other machines have one more place for each
// rank up to a limit: all of them may call at once, and their proof takes a while.
const (
	maxEarly     = 64
	mostFarEarly = 1024
)

// rendezvousServer is the serving side of a rendezvous. Its goroutine accepts until the listener is closed, when all
// ranks have come or at the end.
type rendezvousServer struct {
	ln   net.Listener
	size int
	srv  *serve.Server
	wg   sync.WaitGroup

	// bounds the connections that have not said which rank speaks; a rank that it closes calls again
	door  *authconn.Door
	prove func(net.Conn) (net.Conn, error) // has a caller prove itself; nil: that is done
	limit time.Duration                    // for the proof and the first line of a caller

	mu        sync.Mutex
	arrived   map[int]hello // what the ranks that have come have said; guarded by mu
	connected int           // connected ranks; guarded by mu
	idle      chan struct{} // closed when here falls to 0; replaced when it rises from 0; guarded by mu
	closed    bool          // all connections are closed, by this side; guarded by mu
}

// newHost serves the job of p to processes of this user that call ln, an abstract socket. It owns ln from now on. It
// must be stopped.
func newHost(ln net.Listener, p *envPlace) (*rendezvousServer, error) {
	h, err := makeHost(ln, p, maxEarly, fmt.Sprintf("(vector,(0,1,%d))", p.size))
	if err != nil {
		return nil, err
	}
	h.wg.Go(func() { authconn.AcceptOwn(ln, h.door.Enter, h.takeConn) })
	return h, nil
}

// newRootHost starts a server for the job of p on ln. It admits callers that prove that they know the key of id. The
// server owns ln. The caller must stop it.
func newRootHost(ln net.Listener, p *envPlace, id *authconn.Identity) (*rendezvousServer, error) {
	h, err := makeHost(ln, p, min(maxEarly+p.size, mostFarEarly), "")
	if err != nil {
		return nil, err
	}
	h.limit = rootTimeout
	h.prove = func(raw net.Conn) (net.Conn, error) {
		c, _, err := authconn.Admit(raw, func(uint32) *authconn.Identity { return id })
		if errors.Is(err, authconn.ErrStranger) {
			authconn.Refuse(raw)
		}
		return c, err
	}
	h.wg.Go(func() { h.door.Accept(ln, h.takeConn) })
	return h, nil
}

// makeHost makes a host that does not accept yet. mapping says which rank is on which node; "": not known yet.
func makeHost(ln net.Listener, p *envPlace, places int, mapping string) (*rendezvousServer, error) {
	h := &rendezvousServer{
		ln: ln, size: p.size, door: authconn.NewDoor(places), limit: helloTimeout, arrived: map[int]hello{},
		idle: make(chan struct{}),
	}
	close(h.idle)
	preset := map[string]string{pmi.KeySecret: hex.EncodeToString(NewKey())}
	if mapping != "" {
		preset[pmi.KeyMapping] = mapping
	}
	var err error
	h.srv, err = serve.New(pmi.Config{Size: p.size, KVSName: "golci", Preset: preset},
		serve.Hooks{EOF: h.rankGone, Fail: func(int, int, string) { h.hangUp() }})
	if err != nil {
		ln.Close()
		return nil, err
	}
	return h, nil
}

func (h *rendezvousServer) takeConn(c net.Conn) { h.wg.Go(func() { h.greetRank(c) }) }

// greetRank learns which rank speaks and leaves the connection to the server.
func (h *rendezvousServer) greetRank(raw net.Conn) {
	c, e, err := h.meetCaller(raw)
	if !h.door.Leave(raw) || err != nil {
		raw.Close()
		return
	}
	answer := h.enterRank(e)
	if answer == "" {
		h.attachRank(e.rank, c)
		return
	}
	_, _ = c.Write(refusedLine(answer)) // it calls again, or gives up
	c.Close()
}

// meetCaller has a caller prove itself, and reads its first line.
func (h *rendezvousServer) meetCaller(raw net.Conn) (c net.Conn, e hello, err error) {
	c = raw
	_ = raw.SetDeadline(time.Now().Add(h.limit))
	if h.prove != nil {
		if c, err = h.prove(raw); err != nil {
			return nil, e, err
		}
	}
	if e, err = readHello(c); err == nil {
		err = raw.SetDeadline(time.Time{})
	}
	return c, e, err
}

// enterRank notes that a rank has come. Otherwise it says why that rank cannot take part.
func (h *rendezvousServer) enterRank(e hello) (refusal string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	other, twice := h.arrived[e.rank]
	switch {
	case e.size != h.size:
		return fmt.Sprintf("rank %d on %s is of a job of %d ranks, but the one that serves is of a job of %d", e.rank,
			e.node, e.size, h.size)
	case e.rank < 0 || e.rank >= h.size:
		return fmt.Sprintf("there is no rank %d in a job of %d", e.rank, h.size)
	case twice:
		return fmt.Sprintf("there is a rank %d already, on %s; this one is on %s", e.rank, other.node, e.node)
	}
	h.arrived[e.rank] = e
	if len(h.arrived) == h.size && h.prove != nil {
		h.srv.Publish(pmi.KeyMapping, pmi.FormatNodes(h.numberNodes(), pmi.SafeValue))
	}
	return ""
}

// numberNodes numbers the nodes of all ranks, so that these need not ask for the machine of each other one. h.mu is
// held.
func (h *rendezvousServer) numberNodes() []int {
	number := map[string]int{}
	nodes := make([]int, h.size)
	for r := range nodes {
		host := h.arrived[r].host
		n, ok := number[host]
		if !ok {
			n = len(number)
			number[host] = n
		}
		nodes[r] = n
	}
	return nodes
}

// attachRank welcomes a rank that has entered. When all ranks have come, no more callers are taken.
func (h *rendezvousServer) attachRank(rank int, c net.Conn) {
	_, err := io.WriteString(c, welcome)
	if err != nil {
		c.Close()
		h.mu.Lock()
		delete(h.arrived, rank) // it calls again
		h.mu.Unlock()
		return
	}
	h.serveRank(rank, c)
	h.mu.Lock()
	complete := len(h.arrived) == h.size
	h.mu.Unlock()
	if complete {
		h.closeCalls()
	}
}

// serveRank hands the connection of a rank to the server, and counts the rank. A rank that the server refuses does not
// count.
func (h *rendezvousServer) serveRank(rank int, c net.Conn) {
	h.countRanks(1)
	if !h.srv.Attach(rank, c) {
		h.countRanks(-1)
	}
}

// ownConn is the connection of the serving rank itself, without a network. It is the first to enter, in a job of
// several.
func (h *rendezvousServer) ownConn(p *envPlace) net.Conn {
	near, far := net.Pipe()
	h.enterRank(hello{rank: p.rank, size: p.size, node: p.nodeName(), host: hostMark()})
	h.serveRank(p.rank, far)
	return near
}

// closeCalls takes no more callers.
func (h *rendezvousServer) closeCalls() {
	h.ln.Close()
	h.door.Close()
}

func (h *rendezvousServer) countRanks(d int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.connected == 0 {
		h.idle = make(chan struct{})
	}
	h.connected += d
	if h.connected == 0 {
		close(h.idle)
	}
}

// farewell is how long the others of a job may still ask the server for the missing ranks when a rank has gone.
const farewell = 200 * time.Millisecond

// rankGone: a rank that goes without finalizing ends the job for all, because under these launchers perhaps nobody else
// sees it. So it is named here, with its node.
func (h *rendezvousServer) rankGone(rank int) {
	if !h.srv.Finalized(rank) {
		h.mu.Lock()
		node, over := h.arrived[rank].node, h.closed
		h.mu.Unlock()
		if !over {
			fmt.Fprintf(os.Stderr, "golci: rank %d on %s has gone without finalizing; the job ends\n", rank, node)
		}
		time.AfterFunc(farewell, h.hangUp)
	}
	h.srv.Gone(rank)
	h.countRanks(-1)
}

// hangUp ends the job for all. The ends of connections that follow are no news.
func (h *rendezvousServer) hangUp() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.srv.HangUp()
}

func (h *rendezvousServer) stopServing(ctx context.Context) {
	h.mu.Lock()
	idle := h.idle
	h.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.closeCalls()
	h.srv.Close()
	h.wg.Wait()
}
