package mpi

import (
	"fmt"
	"strconv"
	"time"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/rank"
)

// Option changes how Init and Run set a rank up. An option goes before the environment variable of the same setting;
// `golci info` lists them all. With a value out of range Init and Run fail with ErrArgument.
type Option func(*options)

type options struct {
	rank    rank.Config
	servers []func(*comm.Server) error
	layers  []func(*rank.Rank) error
}

// With sets any setting by its environment variable, as in With("GOLCI_SPIN", "20us").
func With(env, value string) Option { return func(o *options) { o.rank.Settings[env] = value } }

// WithWorkers sets the number of workers that run light-weight threads; 0 is one for each core of the rank.
func WithWorkers(n int) Option { return With(settings.Workers.Env(), strconv.Itoa(n)) }

// WithThreads sets how many light-weight threads may be alive at once on each worker.
func WithThreads(n int) Option { return With(settings.Threads.Env(), strconv.Itoa(n)) }

// WithServer sets who polls the network: "auto", "dedicated", "worker" or "waiter".
func WithServer(mode string) Option { return With(settings.Server.Env(), mode) }

// WithEager sets the largest message in bytes that travels without asking the receiver. The most is 1 MiB, and what a
// record holds. 0 leaves the choice to the mode of flow control. EagerLimit tells what comes of it.
func WithEager(bytes int) Option { return With(settings.Eager.Env(), strconv.Itoa(bytes)) }

// WithUnexpected sets how many bytes of unmatched messages are kept of each peer before its sends ask first.
func WithUnexpected(bytes int) Option { return With(settings.Unexpected.Env(), strconv.Itoa(bytes)) }

// WithLoan sets the credits, of 256 bytes, lent to each peer; it must be the same on all ranks.
func WithLoan(credits int) Option { return With(settings.Loan.Env(), strconv.Itoa(credits)) }

// WithTuning sets bounds that no setting changes, for tests and benchmarks; they must be the same on all ranks.
func WithTuning(t rank.Tuning) Option { return func(o *options) { o.rank.Tuning = t } }

// WithSpin sets how long a waiter polls before it sleeps.
func WithSpin(d time.Duration) Option { return With(settings.Spin.Env(), d.String()) }

// WithTimeout sets how long Init waits for the other ranks.
func WithTimeout(d time.Duration) Option { return With(settings.InitTimeout.Env(), d.String()) }

// WithoutQuitDump leaves SIGQUIT alone. Without it, on the signal the rank writes a report of what it waits for
// (Proc.Dump) to standard error, and ends with exit code 2. With GOLCI_DUMP=stacks the stacks of goroutines and
// threads come after that.
func WithoutQuitDump() Option { return func(o *options) { o.rank.QuitDump = false } }

// WithAttach calls f on every rank before the start barrier. It is the place to register handlers for active
// messages, since the first message can be sent after that barrier. Init, or Run, fails with f's error. It must not
// send, nor wait for other ranks.
func WithAttach(f func(srv *comm.Server) error) Option {
	return func(o *options) { o.servers = append(o.servers, f) }
}

// WithRank calls f on every rank before the start barrier, after MPI's own part has been made. It is the place to
// attach further layers to the rank, such as package realm. Otherwise it is like WithAttach.
func WithRank(f func(r *rank.Rank) error) Option {
	return func(o *options) { o.layers = append(o.layers, f) }
}

// readOptions applies opts to what programs get without any: SIGQUIT is theirs unless they say no.
func readOptions(opts []Option) (*options, error) {
	o := &options{rank: rank.Config{Caller: "mpi", Settings: make(map[string]string), QuitDump: true}}
	for _, f := range opts {
		if f == nil {
			return nil, fmt.Errorf("mpi: %w: nil option", ErrArgument)
		}
		f(o)
	}
	return o, nil
}

// EagerLimit is the largest message in bytes that a rank always sends without asking its receiver first. It holds for a
// job of size ranks (at least 1) with those options and the environment. It is GOLCI_EAGER, or what the mode of flow
// control chooses. It is never more than one record and the loan of a peer hold, which shrink as jobs grow. It starts
// nothing and does not block. Error: ErrArgument.
func EagerLimit(size int, opts ...Option) (int, error) {
	o, err := readOptions(opts)
	if err != nil {
		return 0, err
	}
	if size < 1 || size > comm.MaxRanks {
		return 0, fmt.Errorf("mpi: EagerLimit: %w: a job of %d ranks, the most is %d", ErrArgument, size, comm.MaxRanks)
	}
	n, err := rank.EagerLimit(size, o.rank)
	if err != nil {
		return 0, fmt.Errorf("mpi: EagerLimit: %w", err)
	}
	return n, nil
}

// ThreadKind tells what the threads of a rank with those options and the environment are. why is the reason where they
// should be coroutines and are goroutines (fult.Config.Effective). It does not block or switch threads. Error:
// ErrArgument.
func ThreadKind(opts ...Option) (kind fult.Kind, why, err error) {
	o, err := readOptions(opts)
	if err != nil {
		return 0, nil, err
	}
	if kind, why, err = rank.ThreadKind(o.rank); err != nil {
		return 0, nil, fmt.Errorf("mpi: ThreadKind: %w", err)
	}
	return kind, why, nil
}
