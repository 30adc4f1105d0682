package shm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/internal/job/authconn"
	"github.com/golci/golci/internal/transport/ring"
)

// link is what the exchange yields for one peer.
type link struct {
	rank  int
	conn  *net.UnixConn
	mem   *mapping
	fence bool
	pid   int // of the peer's process
}

func (l *link) discardLink() {
	_ = l.conn.Close() // being given up
	if l.mem != nil {
		l.mem.unmap()
	}
}

// exchange meets the other local ranks.
type exchange struct {
	cfg   *Config
	g     ring.Geometry
	fence bool
	ctx   context.Context // ends with the exchange; set by runExchange
	memory

	mu     sync.Mutex // guards the rest, and of memory what comes from others
	links  map[int]*link
	absent map[int]bool  // ranks that had ended before this one started
	lasts  map[int]error // by rank, the latest failure, to tell when time is over; under its own rank that of accept
	done   context.CancelFunc
	fatal  error

	lacked, lacking time.Time // when descriptors were lacking first, without a pause since, and last
}

// runExchange returns the links to all other local ranks, or none and an error. It leaves no goroutine behind.
func (x *exchange) runExchange() (map[int]*link, error) {
	if len(x.cfg.Local) == 1 {
		return nil, nil
	}
	x.absent = map[int]bool{}
	ctx, cancel := context.WithTimeout(context.Background(), x.cfg.Timeout)
	defer cancel()
	x.ctx = ctx
	x.done, x.links, x.lasts = cancel, map[int]*link{}, map[int]error{}
	addr := socketName(x.cfg, x.cfg.Rank)
	listener, err := net.ListenUnix("unixpacket", addr)
	if errors.Is(err, unix.EADDRINUSE) {
		err = fmt.Errorf("%w; it is held by %s", err, holder(addr))
	}
	if err != nil {
		return nil, fmt.Errorf("shm: rank %d: %w", x.cfg.Rank, err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { x.accept(ctx, &wg, listener) })
	for _, peer := range x.cfg.Local {
		if peer < x.cfg.Rank {
			wg.Go(func() { x.dialUntil(ctx, peer) })
		}
	}
	x.checkComplete()
	<-ctx.Done()
	if x.cfg.hasLateRoom() {
		_ = listener.SetDeadline(time.Unix(1, 0)) // ends accept
	} else {
		_ = listener.Close()
	}
	wg.Wait()
	links, err := x.result()
	if err != nil {
		_ = listener.Close()
		return nil, err
	}
	x.listener = listener
	return links, nil
}

func (x *exchange) result() (map[int]*link, error) {
	var missing []string
	for _, r := range x.cfg.Local {
		if r == x.cfg.Rank || x.links[r] != nil || x.absent[r] || r >= x.cfg.First+x.cfg.Count {
			continue
		}
		text := fmt.Sprintf("rank %d", r)
		if err := x.lasts[r]; err != nil {
			text += fmt.Sprintf(" (%v)", err)
		}
		missing = append(missing, text)
	}
	if x.fatal == nil && len(missing) == 0 {
		return x.links, nil
	}
	for _, l := range x.links {
		l.discardLink()
	}
	if x.fatal != nil {
		return nil, x.fatal
	}
	own := ""
	if err := x.lasts[x.cfg.Rank]; err != nil {
		own = fmt.Sprintf("; it could not take calls (%v)", err)
	}
	return nil, fmt.Errorf("%w: rank %d waited %v for %s%s", errMissing, x.cfg.Rank, x.cfg.Timeout,
		strings.Join(missing, ", "), own)
}

// checkComplete ends the exchange when every link is there.
func (x *exchange) checkComplete() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.links)+len(x.absent) == x.wanted() {
		x.done()
	}
}

// wanted returns the number of other ranks that the exchange waits for: each must be linked or known to have ended.
// Usually these are all other local ranks. In a job with room for late ranks, they are those of this rank's group and
// of earlier groups.
func (x *exchange) wanted() int {
	if x.cfg.hasLateRoom() {
		return x.cfg.First + x.cfg.Count - 1
	}
	return len(x.cfg.Local) - 1
}

// miss notes that a rank which started before is there no more.
func (x *exchange) miss(peer int) {
	x.mu.Lock()
	x.absent[peer] = true
	x.mu.Unlock()
	x.checkComplete()
}

func (x *exchange) addLink(l *link) {
	x.mu.Lock()
	if x.links[l.rank] != nil {
		x.mu.Unlock()
		l.discardLink()
		return
	}
	x.links[l.rank] = l
	x.mu.Unlock()
	x.checkComplete()
}

func (x *exchange) noteFailed(peer int, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.lasts[peer] = err
}

// abortExchange ends the exchange with an error that waiting cannot mend.
func (x *exchange) abortExchange(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.fatal == nil {
		x.fatal = err
	}
	x.done()
}

const (
	// scarce is how long a rank may lack descriptors.
	scarce = time.Second
	// scarcePause ends a lack: tries come more often.
	scarcePause = 10 * lastPause
)

// judge ends the exchange with err if waiting cannot help. That is so if the system refuses a call, as filters of
// system calls do, or if descriptors have been missing for a while. The error names the call.
func (x *exchange) judge(err error) {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, errors.ErrUnsupported):
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		if !x.lacksFiles(time.Now()) {
			return
		}
	default:
		return
	}
	x.abortExchange(fmt.Errorf("shm: rank %d: %w", x.cfg.Rank, err))
}

// lacksFiles notes that there was no descriptor, and says whether that has been so for long.
func (x *exchange) lacksFiles(now time.Time) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if now.Sub(x.lacking) > scarcePause {
		x.lacked = now
	}
	x.lacking = now
	return now.Sub(x.lacked) > scarce
}

// acceptor is a listener.
type acceptor interface {
	AcceptUnix() (*net.UnixConn, error)
}

// accept takes the calls of higher ranks until the listener is closed.
func (x *exchange) accept(ctx context.Context, wg *sync.WaitGroup, listener acceptor) {
	for {
		c, err := listener.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed), errors.Is(err, os.ErrDeadlineExceeded):
			return
		case err != nil: // no descriptors, perhaps: others may be given back
			x.noteFailed(x.cfg.Rank, fmt.Errorf("accept: %w", err))
			x.judge(err)
			authconn.Pause(ctx, lastPause)
		default:
			wg.Go(func() {
				if err := x.meetPeer(ctx, c, anyone); err != nil { // a stranger, or a peer that will say itself why it failed
					x.judge(err)
				}
			})
		}
	}
}

const (
	firstPause = 200 * time.Microsecond
	lastPause  = 20 * time.Millisecond
)

// dialUntil tries to reach a lower rank until it is there or time is over.
func (x *exchange) dialUntil(ctx context.Context, peer int) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		c, err := net.DialUnix("unixpacket", nil, socketName(x.cfg, peer))
		if err == nil {
			err = x.meetPeer(ctx, c, peer)
		}
		if err == nil {
			return
		}
		if errors.Is(err, unix.ECONNREFUSED) && !x.cfg.mate(peer) {
			x.miss(peer)
			return
		}
		if !errors.Is(err, unix.ECONNREFUSED) && ctx.Err() == nil {
			x.noteFailed(peer, err)
			x.judge(err)
		}
		if !authconn.Pause(ctx, pause) {
			return
		}
	}
}

// anyone stands for the peer at the end of a connection that this rank has not made.
const anyone = -1

// meetPeer makes the link to the rank at the other end of c, or closes c.
func (x *exchange) meetPeer(ctx context.Context, c *net.UnixConn, peer int) error {
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	l, err := x.introduce(c, peer)
	inTime := stop()
	if err != nil {
		_ = c.Close() // failed already
		return err
	}
	if !inTime {
		l.discardLink()
		return ctx.Err()
	}
	x.addLink(l)
	return nil
}

// introduce exchanges hellos; the caller's comes first. No memory is sent before the peer has proved itself.
func (x *exchange) introduce(c *net.UnixConn, peer int) (*link, error) {
	pid, err := authconn.SameUser(c)
	if err != nil {
		return nil, err
	}
	if peer != anyone {
		if err := x.greet(c, peer); err != nil {
			return nil, err
		}
	}
	h, err := x.hearHello(c, peer)
	if err != nil {
		return nil, err
	}
	if peer == anyone {
		if err := x.greet(c, h.from); err != nil {
			return nil, err
		}
	}
	l := &link{rank: h.from, conn: c, fence: h.fence, pid: pid}
	switch {
	case x.cfg.late(h.from) && peer == anyone:
		return l, x.welcome(l)
	case x.cfg.late(x.cfg.Rank):
		return l, x.enterLate(l)
	}
	if l.mem, err = x.swap(c, h.from); err != nil && peer == anyone {
		x.noteFailed(h.from, err)
	}
	return l, err
}

func (x *exchange) greet(c *net.UnixConn, peer int) error {
	return sendPacket(c, hello{from: x.cfg.Rank, to: peer, fence: x.fence}.encode(x.cfg.Key), nil)
}

// hearHello takes the hello of a rank that is expected.
func (x *exchange) hearHello(c *net.UnixConn, peer int) (hello, error) {
	b, f, err := receivePacket(c)
	if err != nil {
		return hello{}, err
	}
	closeFiles(f)
	h, err := decodeHello(b, x.cfg.Key)
	if err == nil && (h.to != x.cfg.Rank || h.from != peer && (peer != anyone || !x.expects(h.from))) {
		err = fmt.Errorf("rank %d speaks to rank %d", h.from, h.to)
	}
	return h, err
}

// expects tells whether a rank is to call this one.
func (x *exchange) expects(peer int) bool {
	return peer > x.cfg.Rank && slices.Contains(x.cfg.Local, peer)
}

// swap gives this rank's memory for that of the peer.
func (x *exchange) swap(c *net.UnixConn, peer int) (*mapping, error) {
	if err := sendPacket(c, []byte{0}, x.own); err != nil {
		return nil, err
	}
	_, f, err := receivePacket(c)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, fmt.Errorf("rank %d sent no memory", peer)
	}
	defer closeFiles(f)
	m, err := mapMemory(f, x.g.Size())
	if err != nil {
		err = fmt.Errorf("shm: rank %d: memory of rank %d: %w", x.cfg.Rank, peer, err)
		x.abortExchange(err)
		return nil, err
	}
	return m, x.swapSpareSegments(c, peer)
}
