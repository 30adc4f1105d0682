//go:build linux

package main

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestFileSizes: a limit on file sizes is named where a rank dies of it, and where the memory of a job is too large.
func TestFileSizes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	r := run(t, golci(t, "run", "-n", "1", "sh", "-c", "ulimit -f 1; exec head -c 100000 /dev/zero >"+file))
	r.want(t, 153, "golci: rank 0 was killed by signal 25 (SIGXFSZ): "+
		"a file was to be longer than the limit on file sizes (ulimit -f)")
	cmd := golci(t, ranks(2, "part", "-env", "GOLCI_CONDUIT=shm")...)
	sh := []string{"sh", "-c", `ulimit -f 1000; exec "$0" "$@"`, cmd.Path}
	cmd.Args, cmd.Path = slices.Concat(sh, cmd.Args[1:]), "/bin/sh"
	run(t, cmd).want(t, 1, "(size of a file (ulimit -f))")
}

// TestFileSizeOutput: a file of -output that is too long is named with the limit, and the rank does not notice.
func TestFileSizeOutput(t *testing.T) {
	cmd := golci(t, "run", "-n", "1", "-output", t.TempDir(), "-tee", "head", "-c", "2000000", "/dev/zero")
	sh := []string{"sh", "-c", `ulimit -f 1; exec "$0" "$@"`, cmd.Path}
	cmd.Args, cmd.Path = slices.Concat(sh, cmd.Args[1:]), "/bin/sh"
	r := run(t, cmd)
	r.want(t, 0, "0.out: file too large (ulimit -f)\n")
	if len(r.out) != 2_000_000 {
		t.Errorf("%d bytes came out", len(r.out))
	}
}
