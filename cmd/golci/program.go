package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/golci/golci/cmd/golci/internal/launch"
	"github.com/golci/golci/internal/job/boot"
)

// findPrograms finds the program of each part, and builds those that are Go packages. A package is a directory, a .go
// file, or an import path that is neither a file nor found in PATH. cleanup removes what has been built; it is never
// nil.
func (r *runCmd) findPrograms(
	guard *launch.Guard, signals <-chan os.Signal,
) (argvs [][]string, cleanup func(), err error) {
	b := builder{run: r, guard: guard, signals: signals, built: map[string]string{}}
	for _, p := range r.programParts() {
		if len(p.Argv) == 0 {
			return nil, b.cleanup, errors.New("no program given")
		}
		path, err := b.programPath(p)
		if err != nil {
			return nil, b.cleanup, err
		}
		argvs = append(argvs, append([]string{path}, p.Argv[1:]...))
	}
	return argvs, b.cleanup, nil
}

// builder builds the Go packages of a job.
type builder struct {
	run     *runCmd
	guard   *launch.Guard
	signals <-chan os.Signal
	dir     string            // for what is built; "": nothing is yet
	built   map[string]string // paths of programs, by what the user calls them
}

func (b *builder) cleanup() {
	if b.dir != "" {
		os.RemoveAll(b.dir)
	}
}

// programPath is the path of the program of p.
func (b *builder) programPath(p *part) (string, error) {
	if !p.isPackage() {
		return p.path()
	}
	prog := p.Argv[0]
	if bin, ok := b.built[prog]; ok {
		return bin, nil
	}
	dir, err := b.newDir()
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, binaryName(prog))
	if err := b.run.buildProgram(prog, bin, b.guard, b.signals); err != nil {
		return "", err
	}
	b.built[prog] = bin
	b.run.built = append(b.run.built, bin)
	return bin, nil
}

// newDir makes a directory for one program: others may have the same name.
func (b *builder) newDir() (string, error) {
	if b.dir == "" {
		dir := filepath.Join(os.TempDir(), "golci-run-"+boot.IDFromKey(boot.NewKey()))
		b.guard.AddDir(dir) // before it is there, so that it cannot stay
		if err := os.Mkdir(dir, 0o700); err != nil {
			return "", err
		}
		b.dir = dir
	}
	dir := filepath.Join(b.dir, strconv.Itoa(len(b.built)))
	return dir, os.Mkdir(dir, 0o700)
}

// path is the path of a program that is built already. One with a slash is meant from the directory in which it runs.
// Only other machines may have that, and then the program is not looked for.
func (p *part) path() (string, error) {
	prog := p.Argv[0]
	if p.inDir() {
		prog = filepath.Join(p.Dir, prog)
		if _, err := os.Stat(p.Dir); errors.Is(err, os.ErrNotExist) {
			return prog, nil
		}
	}
	path, err := exec.LookPath(prog)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	return path, err
}

// inDir says whether the program, if it is none to build, is meant from -wdir.
func (p *part) inDir() bool {
	return p.Dir != "" && strings.Contains(p.Argv[0], "/") && !filepath.IsAbs(p.Argv[0])
}

// isPackage says whether the program is a Go package. A program in -wdir is meant before a package here.
func (p *part) isPackage() bool {
	if len(p.Argv) == 0 {
		return false
	}
	if p.inDir() {
		if _, err := exec.LookPath(filepath.Join(p.Dir, p.Argv[0])); err == nil {
			return false
		}
	}
	return isPackage(p.Argv[0])
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

// buildProgram runs go build in a process group of its own; a signal that ends the job ends it, too.
func (r *runCmd) buildProgram(prog, bin string, guard *launch.Guard, signals <-chan os.Signal) error {
	args := append([]string{"build", "-o", bin}, r.buildFlags()...)
	if st, err := os.Stat(prog); err == nil && st.IsDir() && !filepath.IsAbs(prog) && !strings.HasPrefix(prog, ".") {
		prog = "./" + prog // or the go command takes it for an import path
	}
	cmd := exec.Command("go", append(args, prog)...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.SysProcAttr = launch.GroupAttr()
	r.sayDetail("go " + strings.Join(cmd.Args[1:], " "))
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
