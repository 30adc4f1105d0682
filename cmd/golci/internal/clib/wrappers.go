package clib

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Answer is what a wrapper of a compiler answers to a question of build systems, as the wrappers of MPICH and Open MPI
// do; !ok: the arguments ask none. FindMPI of CMake asks so.
func Answer(cc []string, p Place, args []string) (text string, ok bool) {
	compile, link := []string{"-I" + p.Include}, Link(p)
	for i, a := range args {
		rest := slices.Concat(args[:i], args[i+1:])
		switch strings.TrimPrefix(a, "-") {
		case "-showme:compile", "showme:compile":
			return strings.Join(compile, " "), true
		case "-showme:link", "showme:link":
			return strings.Join(link, " "), true
		case "-showme:incdirs", "showme:incdirs":
			return p.Include, true
		case "-showme:libdirs", "showme:libdirs":
			return p.Lib, true
		case "-showme:libs", "showme:libs":
			return library, true
		case "-showme:command", "showme:command":
			return strings.Join(cc, " "), true
		case "-compile_info", "compile_info", "-compile-info", "compile-info":
			return strings.Join(slices.Concat(cc, compile, []string{"-c"}), " "), true
		case "-link_info", "link_info", "-link-info", "link-info":
			return strings.Join(slices.Concat(cc, compile, link), " "), true
		case "-show", "show", "-showme", "showme":
			if argv := Command(cc, p, rest); len(rest) > 0 {
				return strings.Join(argv, " "), true
			}
			return strings.Join(slices.Concat(cc, compile, link), " "), true
		}
	}
	return "", false
}

// Install writes the wrappers mpicc, mpicxx and mpiexec, which run the program golci, and mpi.pc for pkg-config into a
// directory. It makes the directory, and replaces files of these names. The wrappers of compilers give golci cc those
// flags.
func Install(dir, golci string, p Place, flags ...string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	self := quoteWord(golci)
	cc := self + " cc"
	for _, word := range flags {
		cc += " " + quoteWord(word)
	}
	var all []error
	for name, text := range map[string]string{
		"mpicc":   cc + ` -- "$@"`,
		"mpicxx":  cc + ` -cxx -- "$@"`,
		"mpic++":  cc + ` -cxx -- "$@"`,
		"mpiexec": self + ` run "$@"`,
		"mpirun":  self + ` run "$@"`,
	} {
		all = append(all, writeFile(filepath.Join(dir, name), "#!/bin/sh\nexec "+text+"\n", 0o755))
	}
	text := fmt.Sprintf("Name: mpi\nDescription: MPI 5.0 of golci\nVersion: 5.0\nCflags: -I%s\nLibs: %s\n",
		p.Include, strings.Join(Link(p), " "))
	all = append(all, writeFile(filepath.Join(dir, "mpi.pc"), text, 0o644))
	return errors.Join(all...)
}

// writeFile replaces a file. What runs the old one keeps it.
func writeFile(path, text string, mode os.FileMode) error {
	scratch := path + ".new"
	if err := os.WriteFile(scratch, []byte(text), mode); err != nil {
		return err
	}
	return errors.Join(os.Chmod(scratch, mode), os.Rename(scratch, path))
}

// quoteWord is a word of the shell.
func quoteWord(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
