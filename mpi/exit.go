package mpi

import (
	"fmt"
	"os"
)

// exit ends the job and this process.
func (p *Proc) exit(code int, err error) {
	if code < 1 || code > 255 {
		code = 1
	}
	fmt.Fprintf(os.Stderr, "golci: rank %d of %d: the job is aborted: %v\n", p.job.Rank, p.job.Size, err)
	if e := p.job.Abort(code, err.Error()); e != nil {
		fmt.Fprintf(os.Stderr, "golci: rank %d: telling the launcher: %v\n", p.job.Rank, e)
	}
	os.Exit(code)
}
