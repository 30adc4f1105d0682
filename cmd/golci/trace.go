package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/golci/golci/cmd/golci/internal/launch"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/observe/trace"
)

type traceCmd struct {
	Merge mergeCmd `cmd:"" help:"Make one timeline of those of several ranks."`
}

func init() {
	commands = append(commands, &struct {
		Trace traceCmd `cmd:"" help:"Work on timelines that ranks have recorded (GOLCI_TRACE)."`
	}{})
}

type mergeCmd struct {
	Out   string   `arg:"" help:"File to be written, for ui.perfetto.dev."`
	Parts []string `arg:"" help:"Files that the ranks of a job have written: parts, or timelines of one rank."`
}

// Run writes the timeline and tells what it lacks.
func (m mergeCmd) Run() error { return writeTimeline(m.Out, m.Parts) }

func writeTimeline(out string, parts []string) error {
	all, err := trace.WriteFile(out, parts)
	if err != nil {
		return err
	}
	var records uint64
	for _, s := range all {
		records += s.Records
	}
	for _, text := range trace.Lacks(all) {
		sayLine(text)
	}
	sayLine(fmt.Sprintf("%s: a timeline of %d rank(s), %d records, for https://ui.perfetto.dev", out, len(all), records))
	return nil
}

// traceFiles is what -trace says. Options that it does not have are those of the setting.
func (r *runCmd) traceFiles(set *settings.Set) (files settings.TraceFiles, err error) {
	if r.Trace == "" {
		return files, nil
	}
	if files, err = settings.ParseTrace(r.Trace); err != nil {
		return files, fmt.Errorf("-trace %s: %w", r.Trace, err)
	}
	if files.Timeline == "" {
		return files, fmt.Errorf("-trace %s names no file; -env %s=%s is for the ranks alone",
			r.Trace, settings.Trace.Env(), r.Trace)
	}
	if files == (settings.TraceFiles{Timeline: r.Trace, Limit: files.Limit}) {
		usual := settings.TraceOf(set)
		files.Limit, files.Credits = usual.Limit, usual.Credits
	}
	return files, nil
}

// parts is a directory that gets what the ranks of a job record. A nil one is that of a job without a timeline.
type parts struct{ dir string }

// newParts makes the directory beside the timeline, so that nothing is copied from one file system to another. It is
// removed with the parts when the launcher is killed.
func newParts(timeline string, guard *launch.Guard) (*parts, error) {
	if timeline == "" {
		return nil, nil
	}
	path, err := filepath.Abs(timeline)
	if err != nil {
		return nil, err
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return nil, fmt.Errorf("-trace %s: that is a directory", timeline)
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".golci-trace-")
	if err != nil {
		return nil, fmt.Errorf("-trace: %w", err)
	}
	guard.AddDir(dir)
	return &parts{dir}, nil
}

func (p *parts) path() string {
	if p == nil {
		return ""
	}
	return p.dir
}

// merge makes the timeline and removes the parts.
func (p *parts) merge(timeline string) error {
	if p == nil {
		return nil
	}
	defer os.RemoveAll(p.dir)
	files, err := filepath.Glob(filepath.Join(p.dir, "*"+launch.PartEnding))
	if err == nil && len(files) == 0 {
		err = errors.New("no rank has recorded anything")
	}
	if err != nil {
		return err
	}
	return writeTimeline(timeline, files)
}
