package terms

import (
	"errors"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/observe/settings"
)

// ErrArgument is an error of the program.
var ErrArgument = errors.New("invalid argument")

// Options are what the program and its settings say of a rank's messages.
type Options struct {
	Values *settings.Set
	Tuning Tuning
	Sizes  func(*conduit.Config) // changes the conduit's sizes, for tests; may be nil
	Name   string                // tells several ranks of this process on one job apart; may be empty
	Spans  bool                  // some ranks of the job reach each other over a network only; set when the job is known
}

// KeyName is a key of the job's store for this rank's use.
func (o *Options) KeyName(name string) string { return name + o.Name }
