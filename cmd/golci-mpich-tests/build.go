package main

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/golci/golci/cmd/golci-mpich-tests/internal/suite"
	"github.com/golci/golci/internal/abi"
)

// ours tells that the compiler is golci's, which has the ABI's header.
func (c *cli) ours() bool { return filepath.Base(strings.Fields(c.CC)[0]) == "golci" }

// configureArgs leave out what golci does not have: other languages, and extensions of MPICH.
func (c *cli) configureArgs() []string {
	if len(c.Configure) > 0 {
		return c.Configure
	}
	args := []string{"--enable-strictmpi", "--disable-fortran", "--disable-cxx", "--enable-threads=multiple"}
	if c.ours() {
		args = append(args, "--enable-mpi-abi")
	}
	return args
}

// configure makes the copy's Makefiles. It takes some 40 s of a processor.
func (c *cli) configure(ctx context.Context, root string, args []string) error {
	tests := filepath.Join(root, "test", "mpi")
	if _, err := os.Stat(filepath.Join(tests, "configure")); err != nil {
		fmt.Fprintln(c.out, "autogen.sh runs")
		// Only this variable lets the part for datatypes find its macros before they are copied there.
		env := "MPICH_CONFDB=" + filepath.Join(root, "confdb")
		if err := command(ctx, tests, []string{env}, "./autogen.sh"); err != nil {
			return err
		}
	}
	fmt.Fprintln(c.out, "configure runs")
	launcher := strings.Fields(c.Launcher)[0]
	all := append([]string{"CC=" + c.CC, "MPICC=" + c.CC, "MPIEXEC=" + launcher}, args...)
	return command(ctx, tests, nil, "./configure", all...)
}

// command runs a tool. Its output is in the error, from the end.
func command(ctx context.Context, dir string, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(environment(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		const most = 2000
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out[max(0, len(out)-most):])
	}
	return nil
}

// private are variables that are meant for this process, or come from a make around it.
var private = []string{"GOLCI_MPICH_CC", "MPICH_TESTS", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "CONFIG_SITE"}

// environment is that of this process without what is private.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return slices.Contains(private, name)
	})
}

// builder builds each program once. Two makes at once would both build the suite's own library.
type builder struct {
	tests *checkout
	mu    sync.Mutex
	built map[string]error // by name of the program; guarded by mu
}

func (b *builder) build(ctx context.Context, l *suite.Line) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err, ok := b.built[l.Name()]
	if !ok {
		err = command(ctx, filepath.Join(b.tests.dir, filepath.FromSlash(l.Dir)), nil, "make", l.Program)
		if ctx.Err() == nil {
			b.built[l.Name()] = err
		}
	}
	return err
}

// classifier classifies lines by their programs, which it compiles for that, but does not link.
func (c *cli) classifier(
	ctx context.Context, tests *checkout, lines []suite.Line,
) (func(key string) suite.Expected, error) {
	table, err := abi.Load()
	if err != nil {
		return nil, err
	}
	families := make(map[string]string)
	for _, f := range table.Functions {
		families[f.Name] = familyOf(&f)
	}
	family := func(name string) string { return families[strings.TrimSuffix(name, "_c")] }
	twins := suite.Twins(lines)
	by := make(map[string]*suite.Line, len(lines))
	for i := range lines {
		if key := lines[i].Key(); by[key] == nil {
			by[key] = &lines[i]
		}
	}
	programs := make(map[string]*suite.Program)
	return func(key string) suite.Expected {
		l := by[key]
		p, ok := programs[l.Name()]
		if !ok {
			p = c.examine(ctx, tests, l, family)
			programs[l.Name()] = p
		}
		return suite.Classify(l, twins[key], p)
	}, nil
}

// familyOf is the section of the table, but for collective calls that are started first and awaited later.
func familyOf(f *abi.Function) string {
	switch {
	case f.Family != "collective" && f.Family != "neighbor":
		return f.Family
	case strings.HasSuffix(f.Name, "_init"):
		return "persistent"
	case strings.HasPrefix(f.Name, "I"):
		return "nonblocking"
	}
	return f.Family
}

// examine compiles the program's file and looks at what the object calls. Nothing is known of a program whose file is
// not found.
func (c *cli) examine(ctx context.Context, tests *checkout, l *suite.Line, family func(string) string) *suite.Program {
	dir := filepath.Join(tests.dir, filepath.FromSlash(l.Dir))
	makefile, _ := os.ReadFile(filepath.Join(dir, "Makefile.am")) // without one, names of files follow the rule
	source, defines := suite.Sources(string(makefile), l.Program)
	source = strings.NewReplacer("$(srcdir)", ".", "$(top_srcdir)", tests.dir).Replace(source)
	if _, err := os.Stat(filepath.Join(dir, source)); err != nil && !filepath.IsAbs(source) {
		return nil
	}
	object := filepath.Join(dir, l.Program+".golci.o")
	cc := strings.Fields(c.CC)
	args := slices.Concat(cc[1:], defines, []string{
		"-c", "-w", "-o", object, "-I" + filepath.Join(tests.dir, "include"), "-I" + filepath.Join(tests.dir, "util"),
		"-I" + filepath.Join(tests.dir, "dtpools", "include"), source,
	})
	if err := command(ctx, dir, nil, cc[0], args...); err != nil {
		return &suite.Program{Broken: ctx.Err() == nil}
	}
	names, err := undefined(object)
	if err != nil {
		return nil
	}
	p := suite.NewProgram(names, family)
	return &p
}

// undefined lists the names that an object leaves to the linker, and removes it.
func undefined(object string) (names []string, err error) {
	text, err := os.ReadFile(object)
	if err != nil {
		return nil, err
	}
	_ = os.Remove(object) // the next compilation overwrites it
	f, err := elf.NewFile(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	symbols, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF && s.Name != "" {
			names = append(names, s.Name)
		}
	}
	return names, nil
}
