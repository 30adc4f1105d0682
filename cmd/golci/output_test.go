//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wantFiles checks what is in a directory.
func wantFiles(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if wanted, ok := want[f.Name()]; err != nil || !ok || string(text) != wanted {
			t.Errorf("%s has %q, %v", f.Name(), text, err)
		}
	}
	if len(files) != len(want) {
		t.Errorf("%d files, want %d", len(files), len(want))
	}
}

// TestOutputFiles: what each rank writes is in files of its own, in place of what was there.
func TestOutputFiles(t *testing.T) {
	want := map[string]string{
		"0.out": "one\ntwo\nhalf", "0.err": "to err\n", "1.out": "one\ntwo\nhalf", "1.err": "to err\n",
	}
	for name, args := range map[string][]string{
		"here":  ranks(2, "talk", "-prefix"),
		"hosts": onHosts("localhost:1,b:1", "talk"),
	} {
		dir := filepath.Join(t.TempDir(), "new", "dir")
		args, self := args[:len(args)-1], args[len(args)-1]
		r := run(t, golci(t, append(args, "-output", dir, self)...))
		r.want(t, 0, "")
		if r.out+r.err != "" {
			t.Errorf("%s: %q %q came out", name, r.out, r.err)
		}
		wantFiles(t, dir, want)
		earlier := []byte("what an earlier job has written")
		if err := os.WriteFile(filepath.Join(dir, "1.out"), earlier, 0o600); err != nil {
			t.Fatal(err)
		}
		r = run(t, golci(t, append(args, "-output", dir, "-tee", "-prefix", self)...))
		r.want(t, 0, "[1] to err\n")
		marked := []string{"[0] half", "[0] one", "[0] two", "[1] half", "[1] one", "[1] two"}
		if got := sorted(r.out); !slices.Equal(got, marked) {
			t.Errorf("%s: got %q", name, got)
		}
		wantFiles(t, dir, want)
	}
}

// TestOutputOthers: the launcher's own messages are in no file, and programs of a job share the directory.
func TestOutputOthers(t *testing.T) {
	dir := t.TempDir()
	args := []string{"run", "-output", dir, "-n", "1", "echo", "a", ":", "-n", "1", "sh", "-c"}
	fails := "until [ -s " + dir + "/0.out ]; do sleep 0.01; done; echo b >&2; exit 3"
	run(t, golci(t, append(args, fails)...)).want(t, 3, "golci: rank 1 exited with code 3\n")
	wantFiles(t, dir, map[string]string{"0.out": "a\n", "0.err": "", "1.out": "", "1.err": "b\n"})
}

// TestOutputWrong: what is in the way of the output is named.
func TestOutputWrong(t *testing.T) {
	dir := t.TempDir()
	file, taken := filepath.Join(dir, "file"), filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(taken, "1.err"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for text, args := range map[string][]string{
		"golci: -output " + file + ": mkdir " + file + ": not a directory":                  ranks(2, "talk", "-output", file),
		"golci: rank 1: its output: open " + taken + "/1.err: is a directory":               ranks(2, "talk", "-output", taken),
		"golci: rank 1 on b: its output: open " + taken + "/1.err: is a directory":          onHosts("a:1,b:1", "talk", "-output", taken),
		"golci: -tee: the output goes to no files; -output DIR says where they are to be\n": ranks(1, "talk", "-tee"),
	} {
		if r := run(t, golci(t, args...)); r.code == 0 || !strings.Contains(r.err, text) {
			t.Errorf("code %d, want %q\n%s", r.code, text, r.err)
		}
	}
}

// TestOutputFull: a file that cannot take the output is named once, and the rank does not notice.
func TestOutputFull(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/dev/full", filepath.Join(dir, "0.out")); err != nil {
		t.Fatal(err)
	}
	r := run(t, golci(t, ranks(2, "talk", "-output", dir, "-tee")...))
	r.want(t, 0, "golci: the rest of the output of rank 0 is not in its file: write "+dir+
		"/0.out: no space left on device\n")
	if n := strings.Count(r.err, "golci: "); n != 1 || strings.Count(r.out, "half") != 2 {
		t.Errorf("%d messages; %s%s", n, r.err, r.out)
	}
}
