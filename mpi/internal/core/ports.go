package core

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golci/golci/mpi/internal/notice"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/groupmsg"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// Ports by which groups of ranks find each other that have no communicator in common (11.9). A port belongs to the rank
// that has opened it, and its name says which that is. The root of Connect calls that rank with a notice. The root of
// Accept there takes the calls in their order, and answers. Then both trade their groups in the system context.

// ports are those of a rank, and the calls that it makes.
type ports struct {
	mu     sync.Mutex // guards the rest; no lock is taken under it
	serial uint64
	open   map[uint64]*port
	dials  map[uint64]*connectCall // by key
}

// port is one that is open.
type port struct {
	calls   []caller      // that nobody has taken
	waiting []*acceptCall // who waits for a call; none if there are calls
}

type caller struct {
	rank int // of the job
	key  uint64
}

// acceptCall is a wait for a call. Who ends the request by a call sets from before.
type acceptCall struct {
	req  comm.Req
	from caller
}

// connectCall is a call of this rank.
type connectCall struct {
	req       comm.Req
	withdrawn atomic.Bool // it has been withdrawn
}

// What the notice of a call says.
const (
	callMade = iota
	callWithdrawn
)

// What a call is answered with.
const (
	callRefused = iota // there is no such port
	callTaken
)

const portMark = "golci"

// portName is the name of a port. The seal keeps a wrong name from being taken for one of a rank that does not answer.
func (p *Proc) portName(owner int, serial uint64) string {
	job := p.rank.Job()
	front := fmt.Sprintf("%s:%s:%d:%d", portMark, job.JobID, owner, serial)
	h := hmac.New(sha256.New, job.Key)
	fmt.Fprint(h, "golci port ", front)
	return fmt.Sprintf("%s:%x", front, h.Sum(nil)[:8])
}

// parsePort gives the owner and the number of a port.
func (p *Proc) parsePort(name string) (owner int, serial uint64, err error) {
	parts := strings.Split(name, ":")
	if len(parts) == 5 {
		_, err = fmt.Sscan(parts[2]+" "+parts[3], &owner, &serial)
	}
	if len(parts) != 5 || err != nil || p.portName(owner, serial) != name {
		return 0, 0, fmt.Errorf("%w: %q is not the name of a port of this job", errs.Port, name)
	}
	return owner, serial, nil
}

// OpenPort opens a port (11.9.2, MPI_Open_port). Its name has less than 100 bytes. It is local. Errors: ErrFinalized,
// ErrAborted.
func (p *Proc) OpenPort() (string, error) {
	if err := p.rank.Ended(); err != nil {
		return "", fmt.Errorf("mpi: OpenPort: %w", err)
	}
	x := &p.ports
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.open == nil {
		x.open = map[uint64]*port{}
	}
	x.serial++
	x.open[x.serial] = new(port)
	return p.portName(p.rank.Rank(), x.serial), nil
}

// ClosePort closes a port that this rank has opened (MPI_Close_port). It is local. A rank that waits at the port, or
// has called it, gets errs.Port. ClosePort itself returns errs.Port if this rank has no such port.
func (p *Proc) ClosePort(name string) error {
	owner, serial, err := p.parsePort(name)
	if err == nil && (owner != p.rank.Rank() || !p.closePort(serial, errs.Port)) {
		err = fmt.Errorf("%w: %s is not open at this rank", errs.Port, name)
	}
	if err != nil {
		return fmt.Errorf("mpi: ClosePort: %w", err)
	}
	return nil
}

// closePort ends a port, and the waits there with the error why.
func (p *Proc) closePort(serial uint64, why error) bool {
	x := &p.ports
	x.mu.Lock()
	port, ok := x.open[serial]
	delete(x.open, serial)
	x.mu.Unlock()
	if !ok {
		return false
	}
	for _, call := range port.calls {
		p.answerCaller(call, callRefused)
	}
	for _, a := range port.waiting {
		p.srv.EndCall(a.req, fmt.Errorf("%w: the port has been closed", why), nil)
	}
	return true
}

func (p *Proc) answerCaller(to caller, answer uint64) {
	p.srv.Notify(to.rank, [4]uint64{to.key, 0, notice.Answered, answer}, "")
}

// Accept waits for a call at a port, and makes an inter-communicator with the ranks that call (11.9.2,
// MPI_Comm_accept). Only the name that root gives counts; root has opened the port. Collective over c; it waits.
// Errors: ErrComm, ErrRoot, errs.Port, ErrContexts, and those of communication.
func (c *Comm) Accept(name string, root int) (*Comm, error) {
	const what = "Accept"
	return c.connected(what, root, func() (caller, error) { return c.proc.accept(c.scope(what), name) })
}

// Connect calls at a port, and makes an inter-communicator with the ranks that accept (11.9.3, MPI_Comm_connect). Only
// the name that root gives counts. Collective over c. It waits until somebody accepts, for GOLCI_INIT_TIMEOUT at most.
// Errors are those of Accept; errs.Port also when that time is over.
func (c *Comm) Connect(name string, root int) (*Comm, error) {
	const what = "Connect"
	return c.connected(what, root, func() (caller, error) { return c.proc.dial(c.scope(what), name) })
}

// connected makes an inter-communicator with the ranks of whom the root's find brings.
func (c *Comm) connected(what string, root int, find func() (caller, error)) (*Comm, error) {
	if err := c.usableIntra(what); err != nil {
		return nil, err
	}
	if uint(root) >= uint(len(c.group)) {
		return nil, c.commErrorf(what, ": %w: %d", sentinel.ErrRoot, root)
	}
	var told []uint64
	var why error
	if root == c.rank {
		var other caller
		if other, why = find(); why == nil {
			told, why = c.trade(what, groupmsg.Make(groupmsg.Connected, other.key, 0, ""), other.rank)
		}
	}
	told, err := c.meeting(what).spreadWords(told)
	switch {
	case why != nil:
		return nil, c.dressed(what, why)
	case err != nil:
		return nil, c.dressed(what, err)
	case len(told) < 2:
		return nil, c.commErrorf(what, ": %w: rank %d, the root, has failed", errs.Port, root)
	}
	return c.joined(what, told[0], toRanks(told[1:]))
}

// accept waits for a call at a port of this rank.
func (p *Proc) accept(sc scope, name string) (caller, error) {
	owner, serial, err := p.parsePort(name)
	if err != nil {
		return caller{}, err
	}
	x := &p.ports
	x.mu.Lock()
	port, ok := x.open[serial]
	if !ok || owner != p.rank.Rank() {
		x.mu.Unlock()
		return caller{}, fmt.Errorf("%w: %s is not open at this rank", errs.Port, name)
	}
	if len(port.calls) > 0 {
		from := port.calls[0]
		port.calls = port.calls[1:]
		x.mu.Unlock()
		p.answerCaller(from, callTaken)
		return from, nil
	}
	a := new(acceptCall)
	port.waiting = append(port.waiting, a)
	a.req = sc.beginWait(p.srv, pending.AnyRank, pending.Nobody)
	x.mu.Unlock()
	if _, err := sc.waitReq(p.srv, a.req); err != nil {
		p.unwait(serial, a)
		return caller{}, err
	}
	return a.from, nil
}

// unwait takes a wait that has ended off the queue of its port. A call that it has been given meanwhile stays answered:
// who made it waits for the rest of the meeting, until the end of that time.
func (p *Proc) unwait(serial uint64, a *acceptCall) {
	x := &p.ports
	x.mu.Lock()
	defer x.mu.Unlock()
	if port := x.open[serial]; port != nil {
		if i := slices.Index(port.waiting, a); i >= 0 {
			port.waiting = slices.Delete(port.waiting, i, i+1)
		}
	}
}

// dial calls at a port, and waits for the answer.
func (p *Proc) dial(sc scope, name string) (caller, error) {
	owner, serial, err := p.parsePort(name)
	if err != nil {
		return caller{}, err
	}
	d, key := new(connectCall), p.newUID()
	x := &p.ports
	x.mu.Lock()
	if x.dials == nil {
		x.dials = map[uint64]*connectCall{}
	}
	x.dials[key] = d
	d.req = sc.beginWait(p.srv, owner, nil)
	x.mu.Unlock()
	p.srv.Notify(owner, [4]uint64{key, serial, notice.Call, callMade}, "")
	limit := settings.InitTimeout.Get(p.rank.Settings())
	timer := time.AfterFunc(limit, func() {
		d.withdrawn.Store(true)
		p.srv.Notify(owner, [4]uint64{key, serial, notice.Call, callWithdrawn}, "") // the answer ends the wait
	})
	defer timer.Stop()
	_, err = sc.waitReq(p.srv, d.req)
	switch {
	case err == nil:
		return caller{owner, key}, nil
	case errors.Is(err, comm.ErrPeer):
		err = fmt.Errorf("%w: rank %d of the job, which had the port, has ended", errs.Port, owner)
	case errors.Is(err, errs.Port) && d.withdrawn.Load():
		err = fmt.Errorf("%w: nobody has accepted at %s within %v (%s)", errs.Port, name, limit, settings.InitTimeout.Env())
	case !errors.Is(err, errs.Port): // given up: the port is not to keep the call
		p.srv.Notify(owner, [4]uint64{key, serial, notice.Call, callWithdrawn}, "")
	}
	x.mu.Lock()
	delete(x.dials, key)
	x.mu.Unlock()
	return caller{}, err
}

// withdrawn takes a call of another rank back, unless it has been taken or refused: then the answer is on its way. It
// is called by the poller.
func (p *Proc) withdrawn(from caller, serial uint64) {
	x := &p.ports
	x.mu.Lock()
	port, found := x.open[serial], false
	if port != nil {
		if i := slices.Index(port.calls, from); i >= 0 {
			port.calls, found = slices.Delete(port.calls, i, i+1), true
		}
	}
	x.mu.Unlock()
	if found {
		p.answerCaller(from, callRefused)
	}
}

// called takes a call of another rank. It is called by the poller.
func (p *Proc) called(from caller, serial uint64, w *fult.Worker) {
	x := &p.ports
	x.mu.Lock()
	port := x.open[serial]
	var a *acceptCall
	switch {
	case port == nil:
	case len(port.waiting) > 0:
		a, port.waiting = port.waiting[0], port.waiting[1:]
	default:
		port.calls = append(port.calls, from)
	}
	x.mu.Unlock()
	switch {
	case port == nil:
		p.answerCaller(from, callRefused)
	case a != nil:
		p.answerCaller(from, callTaken)
		a.from = from
		p.srv.EndCall(a.req, nil, w)
	}
}

// onAnswered ends a call of this rank with err, if it has not ended.
func (p *Proc) onAnswered(key uint64, err error, w *fult.Worker) {
	x := &p.ports
	x.mu.Lock()
	d := x.dials[key]
	delete(x.dials, key)
	x.mu.Unlock()
	if d != nil {
		p.srv.EndCall(d.req, err, w)
	}
}

// refusal is the error of a call that was answered so.
func refusal(answer uint64) error {
	if answer == callTaken {
		return nil
	}
	return fmt.Errorf("%w: no port of that name is open", errs.Port)
}

// died forgets the calls at ports of a rank. It is called by the poller.
func (x *ports) died(rank int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, port := range x.open {
		port.calls = slices.DeleteFunc(port.calls, func(c caller) bool { return c.rank == rank })
	}
}

// PublishName publishes a port under the name of a service (11.9.4, MPI_Publish_name). It waits for the launcher, as
// the next two do. errs.Service: the name is taken, or the launcher keeps no names.
func (p *Proc) PublishName(service, port string) error {
	return p.naming("PublishName", func(ctx context.Context) error { return p.rank.Job().Publish(ctx, service, port) })
}

// UnpublishName takes a service back (MPI_Unpublish_name). errs.Service: it is not published.
func (p *Proc) UnpublishName(service string) error {
	return p.naming("UnpublishName", func(ctx context.Context) error { return p.rank.Job().Unpublish(ctx, service) })
}

// LookupName gives the port of a service (MPI_Lookup_name). errs.Name: it is not published.
func (p *Proc) LookupName(service string) (port string, err error) {
	return named(p, "LookupName", func(ctx context.Context) (string, error) { return p.rank.Job().Lookup(ctx, service) })
}

func (p *Proc) naming(what string, f func(ctx context.Context) error) error {
	_, err := named(p, what, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) })
	return err
}

func named[T any](p *Proc, what string, f func(ctx context.Context) (T, error)) (T, error) {
	t, err := away(p, scopeOf(what), func(ctx context.Context) (T, error) {
		t, err := f(ctx)
		return t, classed(err)
	})
	if err != nil {
		err = fmt.Errorf("mpi: %s: %w", what, p.cause(err))
	}
	return t, err
}
