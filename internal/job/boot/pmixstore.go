//go:build pmix && linux && (amd64 || arm64)

package boot

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/golci/golci/internal/job/boot/pmix"
)

// havePMIx: this build speaks PMIx.
const havePMIx = true

// pmixKey is before each of the project's keys in the launcher's key space.
const pmixKey = "golci."

// pmixStore is the store behind a PMIx server.
type pmixStore struct {
	c    *pmix.Client
	size int
	quit chan struct{} // closed by end
	over atomic.Bool   // the end of the server's connection is expected from now on; quit is, or will be, closed
}

// joinPMIx joins a job through the server of a PMIx launcher. Where the server does not tell which ranks share a node,
// they find out by their hosts' identities.
func joinPMIx(ctx context.Context, p envPlace, o options) (*Job, error) {
	c, err := pmix.Init(ctx, o.env)
	if err != nil {
		return nil, pmixInitError(p, err)
	}
	if c.Size > maxSize {
		return nil, fmt.Errorf("%w: rank %d of %d, want a job of 1 to %d ranks", errEnv, c.Rank, c.Size, maxSize)
	}
	s := &pmixStore{c: c, size: c.Size, quit: make(chan struct{})}
	j := &Job{Rank: c.Rank, Size: c.Size, Mates: c.Size, Late: c.Size, Launcher: p.launcher, store: s, patience: o.timeout}
	o.traceStep("rank %d of %d, namespace %s, %s, waiting for the others", j.Rank, j.Size, c.Namespace, c.Version)
	if err := s.meetAll(ctx, j); err != nil {
		c.Unwatch() // Finalize would tell the launcher that all is well
		return nil, err
	}
	o.traceStep("job %s is complete; on this node: %v", j.JobID, j.LocalRanks)
	s.watchServer(j, o.lost)
	return j, nil
}

// pmixInitError tells what to do about a library that is missing, and how long a silent server was waited for.
func pmixInitError(p envPlace, err error) error {
	switch {
	case errors.Is(err, pmix.ErrLibrary):
		return fmt.Errorf("%w: %w; or start the program with golci run or srun --mpi=pmi2", errEnv, err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fmt.Errorf("%w: the PMIx server of rank %d has not answered: %w", errEnv, p.rank, err)
	}
	return fmt.Errorf("%w: PMIX_NAMESPACE, PMIX_RANK: %w; are they inherited from a rank that is not this process?",
		errEnv, err)
}

// meetAll waits for all ranks and fills in the data that they share.
func (s *pmixStore) meetAll(ctx context.Context, j *Job) error {
	if j.Rank == 0 {
		if err := s.putValue(ctx, 0, "key", NewKey()); err != nil {
			return err
		}
	}
	near, err := s.c.Peers(ctx)
	if err != nil && !errors.Is(err, pmix.ErrNoKey) {
		return s.toldError(err)
	}
	if err := s.putValue(ctx, j.Rank, "host", hostID()); err != nil {
		return err
	}
	if err := s.fence(ctx); err != nil {
		return err
	}
	if j.Key, err = s.getValue(ctx, 0, "key"); err != nil {
		return err
	}
	if len(j.Key) != keyBytes {
		return fmt.Errorf("%w: the job's key has %d bytes, want %d", errEnv, len(j.Key), keyBytes)
	}
	j.JobID = IDFromKey(j.Key)
	if j.LocalRanks = near; len(near) == 0 {
		nodes, err := hostNodes(ctx, j)
		if err != nil {
			return err
		}
		j.LocalRanks = nodes.Mates(j.Rank)
	}
	if !j.Near(j.Rank) {
		return fmt.Errorf("%w: the server gives ranks %v for the node of rank %d", errEnv, j.LocalRanks, j.Rank)
	}
	return nil
}

// watchServer calls lost when the server goes before the rank ends its membership.
func (s *pmixStore) watchServer(j *Job, lost func(*Job)) {
	if lost == nil {
		return
	}
	go func() {
		select {
		case <-s.c.Lost():
			if !s.over.Load() {
				lost(j)
			}
		case <-s.quit:
		}
	}()
}

// endWatch ends the watch.
func (s *pmixStore) endWatch() {
	if !s.over.Swap(true) {
		close(s.quit)
	}
}

func (s *pmixStore) putValue(ctx context.Context, _ int, key string, value []byte) error {
	return s.toldError(s.c.Put(ctx, pmixKey+key, value))
}

func (s *pmixStore) getValue(ctx context.Context, rank int, key string) ([]byte, error) {
	v, err := s.c.Get(ctx, rank, pmixKey+key, maxValue)
	return v, s.toldError(err)
}

// serverLag is how long the end of the server's connection may be known to the library alone.
const serverLag = 100 * time.Millisecond

// fence takes the word of a server that is still there for the loss of a rank, which it reports by the same status as
// its own.
func (s *pmixStore) fence(ctx context.Context) error {
	err := s.c.Fence(ctx)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return &MissingError{Size: s.size, Note: "this launcher does not tell which", Err: err}
	}
	if errors.Is(err, pmix.ErrLost) && s.c.Lost() != nil {
		select {
		case <-s.c.Lost():
		case <-time.After(serverLag):
			return &MissingError{Size: s.size, Ended: true, Err: err}
		}
	}
	return s.toldError(err)
}

// toldError makes the errors of the client those of this package.
func (s *pmixStore) toldError(err error) error {
	var refused *pmix.StatusError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pmix.ErrAborted):
		return fmt.Errorf("%w: %w", ErrAborted, err)
	case errors.Is(err, pmix.ErrDone):
		return fmt.Errorf("%w: %w", errDone, err)
	case errors.Is(err, pmix.ErrNoKey):
		return fmt.Errorf("%w: %w", ErrNoKey, err)
	case errors.Is(err, pmix.ErrLost), errors.Is(err, pmix.ErrStuck):
		return fmt.Errorf("%w: %w", ErrLost, err)
	case errors.Is(err, pmix.ErrServer), errors.As(err, &refused):
		return fmt.Errorf("%w: %w", errEnv, err)
	}
	return err // a context's
}

func (s *pmixStore) lostServer() <-chan struct{} { return s.c.Lost() }

func (s *pmixStore) abortJob(code int, msg string) error {
	s.endWatch()
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	return s.toldError(s.c.Abort(ctx, code, msg))
}

func (s *pmixStore) finalize(ctx context.Context) error {
	s.endWatch()
	return s.toldError(s.c.Finalize(ctx))
}

func (s *pmixStore) ending() { s.endWatch() }

// leaveJob does not tell code and text: a PMIx launcher takes the process's exit code.
func (s *pmixStore) leaveJob(int, string) error {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	return s.finalize(ctx)
}
