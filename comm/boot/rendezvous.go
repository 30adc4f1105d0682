package boot

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// retryPause is the time between two tries to reach the rank that serves a rendezvous.
const retryPause = 10 * time.Millisecond

// rendezvous joins the ranks of a job whose launcher serves no PMI-1. They have a name in common; whoever binds it
// first serves the others, itself included, with the same server as the project's launcher.
func rendezvous(ctx context.Context, p place) (net.Conn, cleanup, error) {
	if p.nodes != 1 {
		return nil, nil, fmt.Errorf("%w: %s without PMI-1 starts ranks on one node only; use mpiexec (Hydra) or srun --mpi=pmi2",
			ErrEnv, p.launcher)
	}
	name := socketName(p.meeting)
	for {
		stop, err := hostRendezvous(name, p.size)
		if err != nil {
			return nil, nil, err
		}
		conn, err := dialRendezvous(name, p.rank)
		if err == nil {
			return conn, stop, nil
		}
		stop(canceled)
		if !errors.Is(err, errRetry) {
			return nil, nil, err
		}
		select {
		case <-time.After(retryPause):
		case <-ctx.Done():
			return nil, nil, fmt.Errorf("%w: no rank of the job could be reached: %w", ErrMissing, ctx.Err())
		}
	}
}

// errRetry marks a failure that the next try may not meet: the serving rank is about to start or has just ended.
var errRetry = errors.New("rendezvous not reachable")

// cleanup ends what a connection needed beside itself; it may wait for other ranks until ctx ends.
type cleanup func(ctx context.Context)

// canceled is for a cleanup that must not wait.
var canceled = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()
