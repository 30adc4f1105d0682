package boot

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"time"

	"github.com/golci/golci/internal/job/authconn"
)

// retryPause is the shortest pause between two searches for the rank that serves a rendezvous. The longest is twice
// that, so that two ranks that have given way to each other do not do so again.
const retryPause = 10 * time.Millisecond

// meetingNames is how many names a rendezvous may have. The ranks skip a name that another user has bound before them.
const meetingNames = 64

// busyMost is how many times a name may refuse because the queue of its listener is full. A rank accepts its callers at
// once; another listener is perhaps another user's.
const busyMost = 100

// Why a name is not that of a rank, or cannot be called now.
var (
	errNobody = errors.New("nobody listens")
	errBusy   = errors.New("its queue is full")
)

// rendezvousSearch is one rank's search for the others of a job whose launcher serves no PMI-1. The ranks share a
// sequence of names. A rank that finds no other behind any of them binds the first that is free. It serves the others
// and itself with the same server as the project's launcher.
//
// Another user who holds a name and lets it go can have two ranks bind different names. So a rank that has bound a name
// looks at all others once more before it accepts callers. If it finds a rank there, it lets its own go. Of two ranks
// at least one looks after both have bound. If both do, both let go, and the pause until they try again is random.
type rendezvousSearch struct {
	place envPlace
	host  *rendezvousServer // nil: another rank serves
	busy  [meetingNames]int // looks at which the name was busy
	names [meetingNames]string
	last  error // of the last name that a stranger holds
}

// joinNode joins the ranks of a job on one node.
func joinNode(ctx context.Context, p envPlace) (net.Conn, cleanup, error) {
	m := newMeeting(p)
	for {
		conn, err := m.lookRound(ctx)
		if conn != nil {
			return conn, m.stopServing, nil
		}
		if err != nil {
			m.stopServing(canceled)
			return nil, nil, err
		}
		if !authconn.Pause(ctx, retryPause+rand.N(retryPause)) {
			m.stopServing(canceled)
			return nil, nil, fmt.Errorf("%w: no rank of the job could be reached: %w", ErrMissing, errors.Join(ctx.Err(), m.last))
		}
	}
}

func newMeeting(p envPlace) *rendezvousSearch {
	m := &rendezvousSearch{place: p}
	for i := range m.names {
		m.names[i] = socketName(p.meeting + " " + strconv.Itoa(i))
	}
	return m
}

// lookRound calls the names in turn. It returns a connection to the rank that serves, or begins to serve if there is
// none.
func (m *rendezvousSearch) lookRound(ctx context.Context) (net.Conn, error) {
	var free []string
	waits := false
	for i, name := range m.names {
		c, err := dialAbstract("unix", name)
		switch {
		case err == nil:
			c, err = greetHost(ctx, c, &m.place, helloTimeout)
			if errors.Is(err, errRefused) {
				return nil, err
			}
			return c, nil
		case errors.Is(err, errNobody):
			free = append(free, name)
		case errors.Is(err, errBusy) && m.busy[i] < busyMost:
			m.busy[i]++
			waits = true
		default:
			m.last = fmt.Errorf("the name %s of the rendezvous is not a rank's: %w", name, err)
		}
	}
	if waits || m.host != nil {
		return nil, nil
	}
	return nil, m.serveFirst(free)
}

// serveFirst binds the first of the free names, and keeps it unless another rank serves under any name.
func (m *rendezvousSearch) serveFirst(free []string) error {
	for _, name := range free {
		ln, err := listenAbstract(name)
		if errors.Is(err, errTaken) {
			return nil // by another rank, most likely: the next look will tell
		}
		if err != nil {
			return fmt.Errorf("%w: rendezvous: %w", errEnv, err)
		}
		for _, other := range m.names {
			if other == name {
				continue
			}
			if c, err := dialAbstract("unix", other); err == nil {
				c.Close()
				ln.Close() // callers that wait in its queue look again
				return nil
			}
		}
		m.host, err = newHost(ln, &m.place)
		return err
	}
	return nil
}

// stopServing ends the service, if this rank serves. It waits until the connected ranks have gone, or ctx ends.
func (m *rendezvousSearch) stopServing(ctx context.Context) {
	if m.host != nil {
		m.host.stopServing(ctx)
	}
}

// cleanup releases the resources of a connection; it may wait for other ranks until ctx ends.
type cleanup func(ctx context.Context)

// canceled is for a cleanup that must not wait.
var canceled = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()
