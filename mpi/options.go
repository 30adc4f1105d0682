package mpi

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/settings"
)

// Option changes how Init and Run set a rank up. An option goes before the environment variable of the same setting; `golci info`
// lists them all.
type Option func(*options)

type options struct {
	set     map[string]string // environment variables as options give them
	tune    func(*conduit.Config)
	values  *settings.Set
	noQuit  bool
	attach  []func(*comm.Server) error
	threads bool // the number of threads was asked for
}

// With sets any setting by its environment variable, as in With("GOLCI_SPIN", "20us").
func With(env, value string) Option { return func(o *options) { o.set[env] = value } }

// WithWorkers sets the number of workers that run light-weight threads; 0 is one for each core of the rank.
func WithWorkers(n int) Option { return With(settings.Workers.Env(), strconv.Itoa(n)) }

// WithThreads sets how many light-weight threads may be alive at once on each worker.
func WithThreads(n int) Option { return With(settings.Threads.Env(), strconv.Itoa(n)) }

// WithServer sets who polls the network: "auto", "dedicated", "worker" or "waiter".
func WithServer(mode string) Option { return With(settings.Server.Env(), mode) }

// WithEager sets the largest message in bytes that travels without asking the receiver, at most 1 MiB and what a
// record holds; 0 leaves it to the mode of flow control. EagerLimit tells what comes of it.
func WithEager(bytes int) Option { return With(settings.Eager.Env(), strconv.Itoa(bytes)) }

// WithUnexpected sets how many bytes of unmatched messages are kept of each peer before its sends ask first.
func WithUnexpected(bytes int) Option { return With(settings.Unexpected.Env(), strconv.Itoa(bytes)) }

// WithLoan sets the credits, of 256 bytes, lent to each peer; it must be the same on all ranks.
func WithLoan(credits int) Option { return With(settings.Loan.Env(), strconv.Itoa(credits)) }

// WithSpin sets how long a waiter polls before it sleeps.
func WithSpin(d time.Duration) Option { return With(settings.Spin.Env(), d.String()) }

// WithTimeout sets how long Init waits for the other ranks.
func WithTimeout(d time.Duration) Option { return With(settings.InitTimeout.Env(), d.String()) }

// WithoutQuitDump leaves SIGQUIT alone. Without it the signal has the rank write a report of what it waits for (Proc.Dump) to standard
// error, and end with exit code 2. With GOLCI_DUMP=stacks the stacks of goroutines and threads come before that.
func WithoutQuitDump() Option { return func(o *options) { o.noQuit = true } }

// withConduit has f change the conduit's sizes: for tests.
func withConduit(f func(*conduit.Config)) Option { return func(o *options) { o.tune = f } }

// readOptions applies opts and reads the settings.
func readOptions(opts []Option) (*options, error) {
	o := &options{set: make(map[string]string)}
	for _, f := range opts {
		if f == nil {
			return nil, fmt.Errorf("mpi: %w: nil option", ErrArgument)
		}
		f(o)
	}
	var err error
	if o.values, err = settings.Parse(o.lookup); err != nil {
		return nil, fmt.Errorf("mpi: %w: %w", ErrArgument, err)
	}
	known := make(map[string]bool)
	for _, i := range o.values.List() {
		known[i.Env] = true
		if i.Env == settings.Threads.Env() {
			o.threads = i.Set
		}
	}
	for env := range o.set {
		if !known[env] {
			return nil, fmt.Errorf("mpi: %w: no setting is called %q", ErrArgument, env)
		}
	}
	return o, nil
}

// lookup is the environment with the options laid over it.
func (o *options) lookup(name string) (string, bool) {
	if v, ok := o.set[name]; ok {
		return v, true
	}
	return os.LookupEnv(name)
}
