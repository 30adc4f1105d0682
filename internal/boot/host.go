package boot

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/golci/golci/internal/authconn"
	"github.com/golci/golci/internal/boot/pmi"
	"github.com/golci/golci/internal/boot/serve"
)

const (
	cmdHello     = "golci_hello" // first line on a rendezvous: which rank speaks
	helloTimeout = 5 * time.Second
	maxHello     = 64 // bytes in that line
)

// welcome is the answer to the first line. A rank that does not get it calls again.
const welcome = "cmd=" + cmdHello + " rc=0\n"

// maxEarly bounds the connections that have said nothing yet.
const maxEarly = 64

// host is the serving side of a rendezvous. Its goroutine accepts until the listener is closed, when all ranks have
// come or at the end.
type host struct {
	ln   net.Listener
	size int
	srv  *serve.Server
	wg   sync.WaitGroup

	door *authconn.Door // bounds the connections that have not said which rank speaks; a rank that it closes calls again

	mu   sync.Mutex
	came int           // ranks that have come so far; guarded by mu
	here int           // connected ranks; guarded by mu
	idle chan struct{} // closed when here falls to 0; replaced when it rises from 0; guarded by mu
}

// newHost serves a job of size ranks at ln, which it owns from now on. It must be stopped.
func newHost(ln net.Listener, size int) (*host, error) {
	h := &host{ln: ln, size: size, door: authconn.NewDoor(maxEarly), idle: make(chan struct{})}
	close(h.idle)
	var err error
	h.srv, err = serve.New(pmi.Config{
		Size: size, KVSName: "golci",
		Preset: map[string]string{
			pmi.KeySecret:  hex.EncodeToString(NewKey()),
			pmi.KeyMapping: fmt.Sprintf("(vector,(0,1,%d))", size),
		},
	}, serve.Hooks{EOF: h.gone, Fail: func(int, int, string) { h.srv.HangUp() }})
	if err != nil {
		ln.Close()
		return nil, err
	}
	h.wg.Go(func() {
		authconn.AcceptOwn(ln, h.door.Enter, func(c net.Conn) { h.wg.Go(func() { h.greet(c) }) })
	})
	return h, nil
}

// greet learns which rank speaks and leaves the connection to the server.
func (h *host) greet(c net.Conn) {
	rank, err := readHello(c, h.size)
	if !h.door.Leave(c) || err != nil {
		c.Close()
		return
	}
	if _, err := io.WriteString(c, welcome); err != nil {
		c.Close()
		return
	}
	h.count(1)
	if !h.srv.Attach(rank, c) {
		h.count(-1)
		return
	}
	h.mu.Lock()
	h.came++
	complete := h.came == h.size
	h.mu.Unlock()
	if complete {
		h.close()
	}
}

// readHello reads the first line of a connection. The rank says no more before it is answered.
func readHello(c net.Conn, size int) (rank int, err error) {
	_ = c.SetDeadline(time.Now().Add(helloTimeout))
	line, err := bufio.NewReaderSize(c, maxHello).ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	m, err := pmi.Parse(line)
	if err != nil {
		return 0, err
	}
	if rank, err = m.Int("rank"); err != nil {
		return 0, err
	}
	if m.Cmd != cmdHello || rank < 0 || rank >= size {
		return 0, fmt.Errorf("%w: %s", pmi.ErrSyntax, m)
	}
	return rank, c.SetDeadline(time.Time{})
}

// close takes no more callers.
func (h *host) close() {
	h.ln.Close()
	h.door.Close()
}

func (h *host) count(d int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.here == 0 {
		h.idle = make(chan struct{})
	}
	h.here += d
	if h.here == 0 {
		close(h.idle)
	}
}

// farewell is how long the others of a job may still ask the server for the missing ranks when a rank has gone.
const farewell = 200 * time.Millisecond

// gone: a rank that goes without finalizing ends the job for all, because under these launchers perhaps nobody else
// sees it.
func (h *host) gone(rank int) {
	h.srv.Gone(rank)
	if !h.srv.Finalized(rank) {
		time.AfterFunc(farewell, h.srv.HangUp)
	}
	h.count(-1)
}

func (h *host) stop(ctx context.Context) {
	h.mu.Lock()
	idle := h.idle
	h.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
	h.close()
	h.srv.Close()
	h.wg.Wait()
}

// greet tells the host at the other end of c which rank speaks. It returns nil if the host has hung up, because it has
// no room or has ended.
func greet(ctx context.Context, c net.Conn, rank int) net.Conn {
	_ = c.SetDeadline(time.Now().Add(helloTimeout))
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	answer := make([]byte, len(welcome))
	line, err := pmi.M(cmdHello, "rank", fmt.Sprint(rank)).Append(nil)
	if err == nil {
		_, err = c.Write(line)
	}
	if err == nil {
		_, err = io.ReadFull(c, answer)
	}
	if !stop() || err != nil || string(answer) != welcome {
		c.Close()
		return nil
	}
	_ = c.SetDeadline(time.Time{})
	return c
}
