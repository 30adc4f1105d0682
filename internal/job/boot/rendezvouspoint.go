package boot

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"time"

	"github.com/golci/golci/internal/job/authconn"
	"github.com/golci/golci/internal/observe/settings"
)

// rootLabel names the conversation, with its version.
const rootLabel = "golci rendezvous 1"

// Times of a call to rank 0. Its machine may be there later than this one, or have other ranks to take in first.
const (
	dialTimeout    = 5 * time.Second
	rootTimeout    = 20 * time.Second // for proof and greeting
	firstRootPause = 20 * time.Millisecond
	lastRootPause  = time.Second
)

// keepAlive finds out in 25 s that a machine does not answer any more.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3}

// meetAtRoot joins the ranks of a job over TCP: rank 0 serves, and the others call it.
func meetAtRoot(ctx context.Context, p envPlace) (net.Conn, cleanup, error) {
	id, err := authconn.New(p.root.key, rootLabel)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errEnv, err)
	}
	if p.rank == 0 {
		return serveRoot(ctx, &p, id)
	}
	c, err := callRoot(ctx, &p, id)
	return c, nil, err
}

// serveRoot has rank 0 serve all ranks, itself too.
func serveRoot(ctx context.Context, p *envPlace, id *authconn.Identity) (net.Conn, cleanup, error) {
	ln, err := listenRoot(ctx, p.root.addrs)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: rank 0 cannot listen for the others: %w; %s names another port", errEnv, err,
			settings.EnvRoot)
	}
	h, err := newRootHost(ln, p, id)
	if err != nil {
		return nil, nil, err
	}
	return h.ownConn(p), h.stopServing, nil
}

// listenRoot listens at the first port that is free.
func listenRoot(ctx context.Context, addrs []string) (net.Listener, error) {
	var errs []error
	l := net.ListenConfig{KeepAliveConfig: keepAlive}
	for _, addr := range addrs {
		ln, err := l.Listen(ctx, "tcp", listenAddr(addr))
		if err == nil {
			return ln, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// listenAddr is where rank 0 listens when the others call addr: everywhere, since a name may mean an address that this
// machine does not have itself. An address of the loopback interface is that alone.
func listenAddr(addr string) string {
	host, port, _ := net.SplitHostPort(addr)
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsLoopback() {
		return addr
	}
	return net.JoinHostPort("", port)
}

// callRoot calls rank 0 until it answers. Its name may come late, and its program, too.
func callRoot(ctx context.Context, p *envPlace, id *authconn.Identity) (net.Conn, error) {
	var last error // of the last round that was not cut short
	for pause := firstRootPause; ; pause = min(2*pause, lastRootPause) {
		var round []error
		for _, addr := range p.root.addrs {
			c, err := callAddr(ctx, addr, p, id)
			if err == nil {
				return c, nil
			}
			if errors.Is(err, errRefused) {
				return nil, err
			}
			round = append(round, err)
		}
		if ctx.Err() == nil || last == nil {
			last = errors.Join(round...)
		}
		if !authconn.Pause(ctx, pause/2+rand.N(pause)) {
			return nil, fmt.Errorf("%w: rank %d cannot reach rank 0: %w: %w", ErrMissing, p.rank, ctx.Err(), last)
		}
	}
}

// callAddr makes one call. The error names the address.
func callAddr(ctx context.Context, addr string, p *envPlace, id *authconn.Identity) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout, KeepAliveConfig: keepAlive}
	raw, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err // which has the address
	}
	c, err := id.Call(raw, 0)
	if err != nil {
		raw.Close()
		return nil, fmt.Errorf("%s: %w", addr, err)
	}
	said, err := greetHost(ctx, c, p, rootTimeout)
	switch {
	case err == nil:
		return said, nil
	case authconn.IsStranger(err):
		return nil, fmt.Errorf("%s: the program there is none of this job, or has another %s", addr, settings.EnvSecret)
	}
	return nil, fmt.Errorf("%s: %w", addr, err)
}
