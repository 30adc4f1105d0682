package core

import (
	"errors"
	"fmt"
	"strings"

	"github.com/golci/golci/mpi/internal/errs"
)

// sentinels are the errors of this package for classes that pure packages give.
var sentinels = map[errs.Class]error{
	errs.Arg: ErrArgument, errs.Rank: ErrRank, errs.Comm: ErrComm, errs.Count: ErrCount, errs.Type: ErrType,
}

// Sentinel has an error that only wraps a class match the error of this package for it, too.
func Sentinel(err error) error {
	var class errs.Class
	if err == nil || !errors.As(err, &class) {
		return err
	}
	s := sentinels[class]
	switch {
	case s == nil || errors.Is(err, s):
		return err
	case strings.Contains(err.Error(), s.Error()):
		return &aliasError{err, s}
	}
	return fmt.Errorf("%w: %w", s, err)
}

// aliasError is an error that matches another one, too, whose text it has already.
type aliasError struct {
	error
	also error
}

// Unwrap gives both, for errors.Is.
func (t *aliasError) Unwrap() []error { return []error{t.error, t.also} }
