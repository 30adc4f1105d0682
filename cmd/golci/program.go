package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/golci/golci/cmd/golci/internal/launch"
	"github.com/golci/golci/internal/boot"
)

// program finds the program to run. If the argument is a Go package it builds it first. A package is a directory, a .go
// file, or an import path that is neither a file nor found in PATH. cleanup removes the built program.
func (r *runCmd) program(guard *launch.Guard, signals <-chan os.Signal) (argv []string, cleanup func(), err error) {
	if len(r.Argv) == 0 {
		return nil, nil, errors.New("no program given")
	}
	prog := r.Argv[0]
	if !isPackage(prog) {
		path, err := exec.LookPath(prog)
		if err == nil {
			path, err = filepath.Abs(path)
		}
		return append([]string{path}, r.Argv[1:]...), func() {}, err
	}
	dir := filepath.Join(os.TempDir(), "golci-run-"+boot.IDFromKey(boot.NewKey()))
	guard.AddDir(dir) // before it is there, so that it cannot stay
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, nil, err
	}
	cleanup = func() { os.RemoveAll(dir) }
	bin := filepath.Join(dir, binaryName(prog))
	if err := r.build(prog, bin, guard, signals); err != nil {
		cleanup()
		return nil, nil, err
	}
	return append([]string{bin}, r.Argv[1:]...), cleanup, nil
}

func isPackage(prog string) bool {
	st, err := os.Stat(prog)
	if err == nil {
		return st.IsDir() || strings.HasSuffix(prog, ".go")
	}
	if _, err := exec.LookPath(prog); err == nil {
		return false
	}
	first, _, path := strings.Cut(prog, "/")
	return path && strings.Contains(first, ".") && !strings.HasPrefix(first, ".")
}

// binaryName names the program after its package, for messages and process lists.
func binaryName(prog string) string {
	abs, err := filepath.Abs(prog)
	if err != nil {
		abs = prog
	}
	name := strings.TrimSuffix(filepath.Base(abs), ".go")
	if name == "" || name == "." || name == string(filepath.Separator) {
		return "prog"
	}
	return name
}

// build runs go build in a process group of its own; a signal that ends the job ends it, too.
func (r *runCmd) build(prog, bin string, guard *launch.Guard, signals <-chan os.Signal) error {
	args := append([]string{"build", "-o", bin}, r.buildFlags()...)
	if st, err := os.Stat(prog); err == nil && st.IsDir() && !filepath.IsAbs(prog) && !strings.HasPrefix(prog, ".") {
		prog = "./" + prog // or the go command takes it for an import path
	}
	cmd := exec.Command("go", append(args, prog)...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.SysProcAttr = launch.GroupAttr()
	r.detail("go " + strings.Join(cmd.Args[1:], " "))
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("building %s: %w", prog, err)
	}
	guard.Add(cmd.Process.Pid)
	defer guard.Remove(cmd.Process.Pid)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if err == nil && isArchive(bin) {
				err = errors.New("it is not package main, so it is no program")
			}
			if err != nil {
				return fmt.Errorf("building %s: %w", prog, err)
			}
			return nil
		case sig := <-signals:
			s, ok := sig.(syscall.Signal)
			if !ok || !launch.EndsJob(s) {
				continue
			}
			launch.KillGroup(cmd.Process.Pid)
			<-ended
			return exitCode(128 + int(s))
		}
	}
}

// isArchive tells what the go command builds of a package without a main function.
func isArchive(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	const magic = "!<arch>\n"
	b := make([]byte, len(magic))
	_, err = io.ReadFull(f, b)
	return err == nil && string(b) == magic
}

// withValues gives each name of -env without a value its value here.
func withValues(env []string, lookup func(string) (string, bool)) ([]string, error) {
	out := slices.Clone(env)
	for i, kv := range out {
		name, _, valued := strings.Cut(kv, "=")
		if name == "" {
			return nil, fmt.Errorf("-env %q: want KEY=VALUE, or KEY", kv)
		}
		if valued {
			continue
		}
		v, ok := lookup(name)
		if !ok {
			return nil, fmt.Errorf("-env %s: the variable is not set here; to set it for the ranks write %s=VALUE", name, name)
		}
		out[i] = name + "=" + v
	}
	return out, nil
}
