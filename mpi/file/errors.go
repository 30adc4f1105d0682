package file

import (
	"io/fs"

	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// sentinels are the errors of package fs for classes that one rank tells the others.
var sentinels = map[errs.Class]error{
	errs.NoSuchFile: fs.ErrNotExist,
	errs.FileExists: fs.ErrExist,
	errs.Access:     fs.ErrPermission,
}

// of makes err match the error of package fs that stands for its class.
func of(err error) error {
	if err == nil {
		return nil
	}
	return sentinel.Also(err, sentinels[errs.Of(err)])
}
