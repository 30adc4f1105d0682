//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writePrograms writes programs that tell their name and where they run, and returns the directory of all.
func writePrograms(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text := "#!/bin/sh\necho " + name + " in ${PWD##*/}: $*\n"
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestWorkingDirectory: each program runs in its directory, and one with a slash in its name is the one that is meant
// from there.
func TestWorkingDirectory(t *testing.T) {
	dir := writePrograms(t, "p", "d/p", "d/bin/p", "e/p", "d/ls")
	tail := []string{
		"-wdir", "d", "./p", "1", ":", "-n", "1", "-wdir", dir + "/e", "./p", "2", ":", "-n", "1", "./p", "3", ":",
		"-n", "1", "-wd", "d", dir + "/e/p", "4", ":", "-n", "1", "-wdir", "d", "bin/p", "5", ":",
		"-n", "1", "-wdir", "d", "sh", "-c", "echo sh in ${PWD##*/}: 6",
	}
	here := filepath.Base(dir)
	want := []string{"d/bin/p in d: 5", "d/p in d: 1", "e/p in d: 4", "e/p in e: 2", "p in " + here + ": 3", "sh in d: 6"}
	for name, args := range map[string][]string{
		"here":  {"run", "-n", "1"},
		"hosts": {"run", "-hosts", "localhost:3,a:3", "-rsh", execShell, "-n", "1"},
	} {
		cmd := golci(t, append(args, tail...)...)
		cmd.Dir = dir
		r := run(t, cmd)
		r.want(t, 0, "")
		if got := sorted(r.out); !slices.Equal(got, want) {
			t.Errorf("%s: got %q\n%s", name, got, r.err)
		}
	}
}

// TestWorkingDirectoryPackage: a Go package is meant from where golci is called.
func TestWorkingDirectoryPackage(t *testing.T) {
	r := run(t, golci(t, "run", "-wdir", t.TempDir(), "./testdata/hello"))
	r.want(t, 0, "")
	if !strings.HasPrefix(r.out, "hello from 0") {
		t.Errorf("%q", r.out)
	}
}

// TestWorkingDirectoryWrong: the error names directory and rank, and no rank has run.
func TestWorkingDirectoryWrong(t *testing.T) {
	dir := writePrograms(t, "p", "d/p")
	for text, args := range map[string]string{
		"golci: rank 1: working directory " + dir + "/none: no such file": "-n 1 ./p : -n 1 -wdir none true",
		"golci: rank 0: working directory " + dir + "/p: not a directory": "-wdir p true",
		"golci: rank 0: working directory /none: no such file":            "-wdir /none ./p",
		dir + "/d/q": "-wdir d ./q",
	} {
		cmd := golci(t, append([]string{"run"}, strings.Fields(args)...)...)
		cmd.Dir = dir
		if r := run(t, cmd); r.code == 0 || r.out != "" || !strings.Contains(r.err, text) {
			t.Errorf("%q: code %d, want %q\n%s%s", args, r.code, text, r.out, r.err)
		}
	}
}
