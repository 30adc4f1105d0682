package boot

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/golci/golci/comm/boot/pmi"
	"github.com/golci/golci/comm/boot/serve"
)

const (
	cmdHello     = "golci_hello" // first line on a rendezvous: which rank speaks
	helloTimeout = 5 * time.Second
)

// host is the serving side of a rendezvous. Its goroutine accepts until the listener is closed.
type host struct {
	ln  net.Listener
	srv *serve.Server
	wg  sync.WaitGroup

	mu   sync.Mutex
	here int           // connected ranks; guarded by mu
	idle chan struct{} // closed when here falls to 0; replaced when it rises from 0; guarded by mu
}

// hostRendezvous serves under name, unless somebody does already. The cleanup returned waits until the connected ranks
// have gone, and stops the service; it does nothing when somebody else serves.
func hostRendezvous(name string, size int) (cleanup, error) {
	ln, err := listenAbstract(name)
	if errors.Is(err, errTaken) {
		return func(context.Context) {}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: rendezvous: %w", ErrEnv, err)
	}
	h := &host{ln: ln, idle: make(chan struct{})}
	close(h.idle)
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
	h.wg.Add(1)
	go h.accept(size)
	return h.stop, nil
}

func (h *host) accept(size int) {
	defer h.wg.Done()
	for {
		c, err := h.ln.Accept()
		if err != nil {
			return
		}
		h.wg.Add(1)
		go func() {
			defer h.wg.Done()
			h.greet(c, size)
		}()
	}
}

// greet learns which rank speaks and leaves the connection to the server.
func (h *host) greet(c net.Conn, size int) {
	r := bufio.NewReaderSize(c, pmi.MaxRead)
	_ = c.SetReadDeadline(time.Now().Add(helloTimeout))
	line, err := r.ReadSlice('\n')
	if err != nil || !sameUser(c) {
		c.Close()
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	m, err := pmi.Parse(line)
	rank, errRank := m.Int("rank")
	if err != nil || errRank != nil || m.Cmd != cmdHello || rank < 0 || rank >= size {
		c.Close()
		return
	}
	h.count(1)
	if !h.srv.AttachReader(rank, c, r) {
		h.count(-1)
	}
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

// farewell is how long the others of a job may still talk to the server when a rank has gone: time to ask who is missing.
const farewell = 200 * time.Millisecond

// gone: a rank that goes without finalizing ends the job for all, since under these launchers nobody else may see it.
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
	h.ln.Close()
	h.srv.Close()
	h.wg.Wait()
}

// dialRendezvous connects rank to whoever serves name.
func dialRendezvous(name string, rank int) (net.Conn, error) {
	c, err := net.DialTimeout("unix", name, helloTimeout)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRetry, err)
	}
	if !sameUser(c) {
		c.Close()
		return nil, fmt.Errorf("%w: the rendezvous %q belongs to another user", ErrEnv, name)
	}
	line, err := pmi.M(cmdHello, "rank", fmt.Sprint(rank)).Append(nil)
	if err == nil {
		_, err = c.Write(line)
	}
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("%w: %w", errRetry, err)
	}
	return c, nil
}
