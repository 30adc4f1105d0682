//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golci/golci/cmd/golci/internal/launch"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/observe/trace"
	"github.com/golci/golci/internal/test/tracetest"
)

// TestTraceMerge makes one timeline of parts, and tells what it lacks.
func TestTraceMerge(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for _, rank := range []int{0, 2} {
		path := filepath.Join(dir, fmt.Sprintf("x.%d.part", rank))
		r, err := trace.New(trace.Config{Path: path, Rank: rank, Size: 3})
		if err != nil {
			t.Fatal(err)
		}
		r.Track("one").Add(trace.Record{Start: r.Now(), Kind: trace.Instant})
		r.Close()
		files = append(files, path)
	}
	out := filepath.Join(dir, "all.json")
	r := run(t, golci(t, append([]string{"trace", "merge", out}, files...)...))
	r.want(t, 0, "")
	for _, text := range []string{"rank 1: there is no part of it", "a timeline of 2 rank(s), 2 records"} {
		if !strings.Contains(r.err, text) {
			t.Errorf("%q is not in %q", text, r.err)
		}
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Error(err)
	}
	tracetest.Valid(t, b)
	r = run(t, golci(t, "trace", "merge", out, filepath.Join(dir, "none")))
	if r.code != 1 || !strings.Contains(r.err, "none: no such file") {
		t.Errorf("exit code %d, %q", r.code, r.err)
	}
}

// TestTraceOfNothing: a program that is no rank of golci leaves no timeline, and no other file.
func TestTraceOfNothing(t *testing.T) {
	dir := t.TempDir()
	r := run(t, golci(t, "run", "-trace", filepath.Join(dir, "x.json"), "true"))
	if r.code != 1 || !strings.Contains(r.err, "no rank has recorded anything") {
		t.Errorf("exit code %d, %q", r.code, r.err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files %v, %v", left, err)
	}
	r = run(t, golci(t, "run", "-trace", dir, "true"))
	if r.code != 1 || !strings.Contains(r.err, "that is a directory") {
		t.Errorf("exit code %d, %q", r.code, r.err)
	}
}

// TestTraceOptions: options follow the file of -trace; those of the setting count where it has none.
func TestTraceOptions(t *testing.T) {
	set, err := settings.Parse(func(name string) (string, bool) {
		if name != settings.Trace.Env() {
			return "", false
		}
		return "own.json,limit=2M,credits=c", true
	})
	if err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string]settings.TraceFiles{
		"":                {},
		"time.json":       {Timeline: "time.json", Limit: 2 << 20, Credits: "c"},
		"a.json,limit=4M": {Timeline: "a.json", Limit: 4 << 20},
	} {
		r := runCmd{Trace: flag}
		if got, err := r.traceFiles(set); got != want || err != nil {
			t.Errorf("-trace %q: %+v, %v", flag, got, err)
		}
	}
	for _, flag := range []string{"limit=4M", "a.json,limt=4M"} {
		r := runCmd{Trace: flag}
		if got, err := r.traceFiles(set); err == nil || !strings.Contains(err.Error(), "-trace "+flag) {
			t.Errorf("-trace %q: %+v, %v", flag, got, err)
		}
	}
	env := []string{"A=b", settings.Trace.Env() + "=own.json,limit=2M"}
	if got, want := launch.PartsEnv("/d", env), settings.Trace.Env()+"=/d/%r.part,limit=2097152"; got != want {
		t.Errorf("the ranks get %q, want %q", got, want)
	}
}
