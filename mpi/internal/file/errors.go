package file

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/golci/golci/mpi/internal/errs"
)

// systemErrors are the classes of what the system says (14.7). The first one that fits counts.
var systemErrors = []struct {
	err   error
	class errs.Class
}{
	{fs.ErrNotExist, errs.NoSuchFile},
	{fs.ErrExist, errs.FileExists},
	{syscall.EROFS, errs.ReadOnly},
	{fs.ErrPermission, errs.Access},
	{syscall.ENOSPC, errs.NoSpace},
	{syscall.EDQUOT, errs.Quota},
	{syscall.ETXTBSY, errs.FileInUse},
	{syscall.ENAMETOOLONG, errs.BadFile},
	{syscall.EISDIR, errs.BadFile},
	{syscall.ENOTDIR, errs.BadFile},
}

// class is the class of an error; errs.Success of none.
func class(err error) errs.Class {
	var own errs.Class
	switch {
	case err == nil:
		return errs.Success
	case errors.As(err, &own):
		return own
	}
	for _, e := range systemErrors {
		if errors.Is(err, e.err) {
			return e.class
		}
	}
	return errs.IO
}

// fileErrorf makes the error of a call on the file.
func (f *File) fileErrorf(what string, err error) error {
	var own errs.Class
	if errors.Is(err, syscall.EFBIG) {
		err = fmt.Errorf("%w: more than the limit on file sizes (ulimit -f), or that of the file system", err)
	}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return f.c.Errorf(what, ": %w: file %q", err, f.name)
	}
	return f.c.Errorf(what, ": %w: %w: file %q", class(err), err, f.name)
}
