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
	set, err := settings.Parse(os.LookupEnv)
	if err != nil {
		return err
	}
	cc, err := c.compiler(set)
	if err != nil {
		return err
	}
	if err := findSources(c.Args); err != nil {
		return err
	}
	place, err := findLibrary(set, c.Rebuild)
	if err != nil {
		return err
	}
	if c.Install != "" {
		return installWrappers(c.Install, place)
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

// compiler is the one that the settings name, with its first arguments.
func (c *ccCmd) compiler(set *settings.Set) ([]string, error) {
	of := settings.CC
	if c.Cxx {
		of = settings.CXX
	}
	cc := strings.Fields(of.Get(set))
	switch {
	case len(cc) == 0:
		return nil, fmt.Errorf("%s names no compiler", of.Env())
	case filepath.Base(cc[0]) == "golci":
		return nil, fmt.Errorf("%s names golci, which is no compiler of its own", of.Env())
	}
	return cc, nil
}

// installWrappers writes the wrappers of this program into a directory, which is made.
func installWrappers(dir string, place clib.Place) error {
	self, err := ownPath()
	if err != nil {
		return err
	}
	return clib.Install(dir, self, place)
}

// findLibrary finds the header and the C library of this program.
func findLibrary(set *settings.Set, anew bool) (p clib.Place, err error) {
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
		Golci: self, Cache: filepath.Join(cache, "golci", "clib"), Source: librarySource, Anew: anew,
		Build: func(source, output string) error { return buildLibrary(source, output, settings.CC.Get(set)) },
		Key:   clib.Hash(fmt.Appendln(nil, version(), self, st.Size(), st.ModTime().UnixNano())),
	}
	if settings.CLib.Given(set) {
		f.Dir = settings.CLib.Get(set)
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
