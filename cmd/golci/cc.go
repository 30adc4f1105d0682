//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/golci/golci/cmd/golci/internal/clib"
	"github.com/golci/golci/internal/abi"
	"github.com/golci/golci/internal/observe/settings"
)

type ccCmd struct {
	Print   bool     `help:"Print the command, and do not run it."`
	Rebuild bool     `help:"Build the C library anew, even if there is one."`
	Cxx     bool     `help:"Compile C++."`
	WithCC  string   `name:"with-cc" default:"cc" help:"Compiler of C, and arguments for it; it builds the C library, too." placeholder:"COMMAND"`
	WithCXX string   `name:"with-cxx" default:"c++" help:"Compiler of C++, and arguments for it." placeholder:"COMMAND"`
	WithLib string   `name:"with-lib" help:"Directory of the C library; default: it is looked for, and built where there is none." placeholder:"DIR"`
	Install string   `help:"Write mpicc, mpicxx, mpiexec and mpi.pc into a directory, and compile nothing." placeholder:"DIR"`
	Args    []string `arg:"" optional:"" passthrough:"" name:"args" help:"Arguments of the compiler."`
}

func init() {
	commands = append(commands, &struct {
		Cc ccCmd `cmd:"" foreign:"" help:"Compile a C program that uses MPI, and link it with the C library."`
	}{})
}

func (c *ccCmd) setArgs(l line) error {
	c.Args = l.rest
	return nil
}

// Run runs the compiler, and ends with its exit code.
func (c *ccCmd) Run() error {
	for _, text := range settings.Misspelt(os.Environ()) {
		sayLine(text)
	}
	cc, err := c.compiler()
	if err != nil {
		return err
	}
	if err := findSources(c.Args); err != nil {
		return err
	}
	place, err := c.findLibrary()
	if err != nil {
		return err
	}
	if c.Install != "" {
		return c.installWrappers(place)
	}
	if text, ok := clib.Answer(cc, place, c.Args); ok {
		fmt.Println(text)
		return nil
	}
	argv := clib.Command(cc, place, c.Args)
	if c.Print {
		if len(c.Args) == 0 {
			argv = append(argv, clib.Link(place)...)
		}
		fmt.Println(strings.Join(argv, " "))
		return nil
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exitCode(max(exit.ExitCode(), 1))
	}
	return err
}

// findSources looks for the sources among the arguments of the compiler: before the library is built, which takes long.
func findSources(args []string) error {
	names := []string{"-o", "-include", "-imacros", "-MF", "-MT", "-MQ"} // what follows is no source
	for i, arg := range args {
		source := slices.Contains([]string{".c", ".cc", ".cpp", ".cxx", ".C"}, filepath.Ext(arg))
		if !source || strings.HasPrefix(arg, "-") || i > 0 && slices.Contains(names, args[i-1]) {
			continue
		}
		if _, err := os.Stat(arg); err != nil {
			return err
		}
	}
	return nil
}

// compiler is the one that the flags name, with its first arguments.
func (c *ccCmd) compiler() ([]string, error) {
	name, flag := c.WithCC, "-with-cc"
	if c.Cxx {
		name, flag = c.WithCXX, "-with-cxx"
	}
	cc := strings.Fields(name)
	switch {
	case len(cc) == 0:
		return nil, fmt.Errorf("%s names no compiler", flag)
	case filepath.Base(cc[0]) == "golci":
		return nil, fmt.Errorf("%s names golci, which is no compiler of its own", flag)
	}
	return cc, nil
}

// installWrappers writes the wrappers of this program into a directory, which is made. They have the compilers and the
// library of c.
func (c *ccCmd) installWrappers(place clib.Place) error {
	self, err := ownPath()
	if err != nil {
		return err
	}
	flags := []string{"-with-cc", c.WithCC, "-with-cxx", c.WithCXX}
	if c.WithLib != "" {
		flags = append(flags, "-with-lib", place.Lib)
	}
	return clib.Install(c.Install, self, place, flags...)
}

// findLibrary finds the header and the C library of this program.
func (c *ccCmd) findLibrary() (p clib.Place, err error) {
	table, err := abi.Load()
	if err != nil {
		return p, err
	}
	self, err := ownPath()
	if err != nil {
		return p, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return p, err
	}
	st, err := os.Stat(self)
	if err != nil {
		return p, err
	}
	f := clib.Finder{
		Golci: self, Cache: filepath.Join(cache, "golci", "clib"), Source: librarySource, Anew: c.Rebuild,
		Build: func(source, output string) error { return buildLibrary(source, output, c.WithCC) },
		Dir:   c.WithLib,
		Key:   clib.Hash(fmt.Appendln(nil, version(), self, st.Size(), st.ModTime().UnixNano())),
	}
	return f.Find(table.Header())
}

// librarySource is the module capi in the source that this program was built from. If the program does not know where
// that is, it is the one beside the golci that the module in the current directory uses. It is "" if there is none.
func librarySource() string {
	_, file, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(file), "..", "..")
	if !filepath.IsAbs(root) {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/golci/golci").Output()
		if err != nil {
			return ""
		}
		root = strings.TrimSpace(string(out))
	}
	dir := filepath.Join(root, "mpi", "capi")
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return ""
	}
	return dir
}

// buildLibrary runs the go command, which builds the library with the compiler cc. What that prints is no output of cc.
func buildLibrary(source, output, cc string) error {
	sayLine(fmt.Sprintf("building %s; this is done once", abi.LibraryFile))
	cmd := exec.Command("go", abi.BuildArgs(output)...)
	cmd.Dir = source
	cmd.Env = append(os.Environ(), buildVariables(cc)...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}

// buildVariables are those of the go command that builds the library. CC replaces the user's, which may be golci cc: a
// configure script exports its CC, and the build would start itself.
func buildVariables(cc string) []string {
	return []string{"CGO_ENABLED=1", "GOWORK=off", "GOFLAGS=", "CC=" + cc}
}
