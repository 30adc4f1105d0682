package file

import (
	"io/fs"

	"github.com/golci/golci/mpi/internal/errs"
)

// sentinels are the errors of package fs for classes that one rank tells the others.
var sentinels = map[errs.Class]error{
	errs.NoSuchFile: fs.ErrNotExist,
	errs.FileExists: fs.ErrExist,
	errs.Access:     fs.ErrPermission,
}

// failure is an error that is also one of package fs.
type failure struct {
	error
	also error
}

// Unwrap gives both.
func (e failure) Unwrap() []error { return []error{e.error, e.also} }

// of has errors.Is find the error of package fs that stands for the class of err.
func of(err error) error {
	if err == nil {
		return nil
	}
	if also := sentinels[errs.Of(err)]; also != nil {
		return failure{err, also}
	}
	return err
}
