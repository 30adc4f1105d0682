package rank

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/progress"
	"github.com/golci/golci/rank/internal/terms"
)

// Errors, for errors.Is.
var (
	ErrArgument  = terms.ErrArgument
	ErrThread    = errors.New("not allowed in a light-weight thread")
	ErrFinalized = errors.New("the rank has been finalized")
	ErrAborted   = errors.New("the job has been aborted")
	ErrPending   = progress.ErrPending
)

// Config says how a rank is brought up. The zero value takes settings from the environment, no more.
type Config struct {
	// Settings are values by the names of their variables, and go before the environment. `golci info` lists the names.
	Settings map[string]string
	// Tuning has bounds that no setting changes, for tests and benchmarks.
	Tuning Tuning
	// Attach registers the layers that work on the rank (Rank.Attach). It is called on every rank, before anything
	// polls or sends. It must not send, nor wait for other ranks. Its error ends the start.
	Attach func(*Rank) error
	Caller string // the package that the program calls, "" for rank; texts of errors begin with it
	// Name tells several ranks of this process on one job apart; see On. It has at most 16 letters and digits.
	Name  string
	Sizes func(*conduit.Config) // changes the conduit's sizes, for tests; the same on all ranks

	// What follows concerns the whole process. It is for whoever starts the program to ask for.

	// Processors lets Start raise GOMAXPROCS, unless the environment sets it, to one more than the threads that poll.
	Processors bool
	// QuitDump has SIGQUIT write the rank's dump to standard error, and then end the process with exit code 2.
	QuitDump bool
	// Exit ends the process with an exit code, as os.Exit does, when the job ends otherwise than by Finalize. With nil
	// the process goes on: operations that are pending, and later ones, end with ErrAborted and the reason.
	Exit func(code int)
}

// options are a Config that has been read.
type options struct {
	Config
	terms terms.Options // read of Config
}

// readSettings checks c and reads the settings.
func (c Config) readSettings() (*options, error) {
	o := &options{Config: c}
	if o.Caller == "" {
		o.Caller = "rank"
	}
	if err := o.Tuning.Check(); err != nil {
		return nil, err
	}
	values, err := settings.Parse(o.lookup)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArgument, err)
	}
	o.terms = terms.Options{Values: values, Tuning: c.Tuning, Sizes: c.Sizes, Name: c.Name}
	known := values.List()
	for env := range c.Settings {
		if !slices.ContainsFunc(known, func(i settings.Info) bool { return i.Env == env }) {
			if to, ok := settings.Successor(env); ok {
				return nil, fmt.Errorf("%w: no setting is called %s any more; use %s", ErrArgument, env, to)
			}
			return nil, fmt.Errorf("%w: no setting is called %q", ErrArgument, env)
		}
	}
	return o, nil
}

// lookup is the environment with the settings laid over it.
func (o *options) lookup(name string) (string, bool) {
	if v, ok := o.Settings[name]; ok {
		return v, true
	}
	return os.LookupEnv(name)
}
