// Package boot gives a rank its number and its connection to the others. It finds the launcher from the environment:
// golci run, MPICH's mpiexec, Slurm's srun, Open MPI's mpirun, variables of the user's, or none. It offers the same Job
// under each: rank, size, the ranks of the same node, a secret they share, and a small store. The store has keys and
// values for the exchange of addresses.
//
// Nothing here is fast or needs to be: it is used at the start and at the end of a job.
package boot

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// Limits of a job and of its store.
const (
	maxKey   = 32       // bytes in a key
	maxValue = 64 << 10 // bytes in a value
	maxSize  = 1 << 20  // ranks in a job
	keyBytes = 32       // bytes in Job.Key
)

// Errors. Every returned error wraps one of them, with the details in its text.
var (
	ErrMissing  = errors.New("golci: ranks did not come")
	ErrNoKey    = errors.New("golci: no such key")
	errArgument = errors.New("golci: bad argument")
	errEnv      = errors.New("golci: launcher environment")
	ErrApart    = errors.New("no way to the other ranks")
	errTwice    = errors.New("golci: this process has joined its job already")
	ErrLost     = errors.New("golci: the launcher has gone")
	ErrAborted  = errors.New("golci: the job was aborted")
	errDone     = errors.New("golci: the job has been finalized")
)

// Job is one rank's membership of a job. The fields are set by Join or Local and must not be changed. The methods are
// safe for concurrent use, but one that waits keeps the others of the same Job waiting.
type Job struct {
	Rank       int    // 0 .. Size-1
	Size       int    // number of ranks, with those that may start later
	First      int    // lowest rank of those that have started together with this one, its world
	Mates      int    // how many these are, at least 1
	Late       int    // ranks that have started with the job; Size, unless it has room for more
	LocalRanks []int  // ranks on this node, ascending, this one included
	JobID      string // the same on all ranks, different for every job; hexadecimal, fit for a file or socket name
	Key        []byte // 32 random bytes that only the job's ranks know
	Launcher   string // one of the Launcher constants

	store    store
	patience time.Duration // for the exchanges of OpenPlane; 0: defaultPatience
	loss     string        // of Loss; "": the launcher's

	mu   sync.Mutex
	puts map[string]bool // keys put so far; guarded by mu
}

// Names of the launchers, as in Job.Launcher.
const (
	LauncherGolci   = "golci"   // golci run
	LauncherHydra   = "hydra"   // mpiexec of MPICH and its like
	LauncherSlurm   = "slurm"   // srun, with PMI or without
	LauncherPMI     = "pmi"     // another PMI-1 launcher
	LauncherOpenMPI = "openmpi" // mpirun of Open MPI
	LauncherEnv     = "env"     // none, or one of which nothing is known: GOLCI_RANK and GOLCI_SIZE tell the place
	LauncherPMIx    = "pmix"    // another PMIx launcher, in builds with the tag pmix
	LauncherSingle  = "single"  // none: a job of one rank
	LauncherLocal   = "local"   // ranks inside one process, made by Local
)

// store is the implementation of a Job: a launcher, a rendezvous, or memory.
type store interface {
	putValue(ctx context.Context, rank int, key string, value []byte) error
	getValue(ctx context.Context, rank int, key string) ([]byte, error)
	fence(ctx context.Context) error
	abortJob(code int, msg string) error
	finalize(ctx context.Context) error
	lostServer() <-chan struct{}
}

// World is the ranks that have started together with this one, ascending.
func (j *Job) World() []int {
	all := make([]int, j.Mates)
	for i := range all {
		all[i] = j.First + i
	}
	return all
}

// Room tells whether more ranks may start later.
func (j *Job) Room() bool { return j.Late < j.Size }

// Put stores value under key for this rank; other ranks can Get it after the next Fence. A key has 1 to maxKey letters,
// digits, '.', '_' or '-' and can be put once; a value has up to maxValue bytes. Errors: errArgument, and those of
// the launcher. It waits for the launcher's answer, on the calling goroutine.
func (j *Job) Put(key string, value []byte) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if len(value) > maxValue {
		return fmt.Errorf("%w: value of %d bytes for key %q, at most %d", errArgument, len(value), key, maxValue)
	}
	j.mu.Lock()
	twice := j.puts[key]
	if j.puts == nil {
		j.puts = map[string]bool{}
	}
	j.puts[key] = true
	j.mu.Unlock()
	if twice {
		return fmt.Errorf("%w: key %q put twice", errArgument, key)
	}
	return j.store.putValue(context.Background(), j.Rank, key, value)
}

// Fence waits until every rank of this world has called it, and makes all earlier Puts visible. When ctx ends first the
// error wraps ErrMissing and ctx's error. It names the ranks that did not come, as far as the launcher reports them.
// The job is then of no further use. It blocks the calling goroutine.
func (j *Job) Fence(ctx context.Context) error { return j.store.fence(ctx) }

// Barrier waits until every rank has called it. It is Fence; the name says that no Put is meant.
func (j *Job) Barrier(ctx context.Context) error { return j.store.fence(ctx) }

// Get returns the value that rank has Put under key before the last Fence. Errors: errArgument, ErrNoKey, and those of
// the launcher. It blocks the calling goroutine until the launcher answers.
func (j *Job) Get(ctx context.Context, rank int, key string) ([]byte, error) {
	if rank < 0 || rank >= j.Size {
		return nil, fmt.Errorf("%w: rank %d in a job of %d", errArgument, rank, j.Size)
	}
	if err := checkKey(key); err != nil {
		return nil, err
	}
	return j.store.getValue(ctx, rank, key)
}

// Abort tells the launcher to end all ranks, with exit code code and the reason msg, and ends this rank's membership.
// The caller then ends its own process, because not every launcher does. golci run prints the reason; under the others
// Abort prints it on standard error. It does not wait, neither for the launcher nor for another goroutine's Fence,
// which ends with ErrAborted.
func (j *Job) Abort(code int, msg string) error {
	if j.Launcher != LauncherGolci && j.Launcher != LauncherLocal {
		fmt.Fprintf(os.Stderr, "golci: rank %d aborted the job with code %d: %s\n", j.Rank, code, msg)
	}
	return j.store.abortJob(code, msg)
}

// Finalize ends this rank's membership in order; the launcher will not take its exit for a failure. If a rank of the
// job serves the others (Open MPI, srun without PMI) it waits until all have finalized. So every rank must call it.
func (j *Job) Finalize(ctx context.Context) error { return j.store.finalize(ctx) }

// lostServer is closed when the job cannot go on: the launcher's connection has ended without Finalize, or a local job
// was aborted. It stays open for a job of one rank.
func (j *Job) lostServer() <-chan struct{} { return j.store.lostServer() }

// Loss is a sentence about the event for which lostServer is closed, as far as this rank knows.
func (j *Job) Loss() string {
	if j.loss != "" {
		return j.loss
	}
	return "the launcher has gone"
}

func checkKey(key string) error {
	if key == "" || len(key) > maxKey {
		return fmt.Errorf("%w: key %q has %d bytes, want 1 to %d", errArgument, key, len(key), maxKey)
	}
	for i := range len(key) {
		c := key[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return fmt.Errorf("%w: key %q holds %q", errArgument, key, c)
		}
	}
	return nil
}

// NewKey makes the secret of a new job.
func NewKey() []byte {
	key := make([]byte, keyBytes)
	rand.Read(key) // never fails: crypto/rand ends the process instead
	return key
}

// IDFromKey derives the public name of a job from its secret, without giving the secret away.
func IDFromKey(key []byte) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte("golci job id"))
	return hex.EncodeToString(h.Sum(nil)[:8])
}
