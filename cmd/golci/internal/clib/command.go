package clib

import (
	"slices"
	"strings"
)

// onlyCompiles lists the options with which a compiler does not link.
var onlyCompiles = []string{"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"}

// withValue lists the options whose value is the next argument.
var withValue = []string{
	"-o", "-I", "-L", "-D", "-U", "-x", "-include", "-isystem", "-idirafter", "-iquote", "-MF", "-MT", "-MQ", "-T",
	"-Xlinker", "-Xassembler", "-Xpreprocessor", "-z", "-u", "-l", "-arch", "-target", "--param",
}

// Command is the compiler's command line: cc, the header, what the user says, and the library if it links.
func Command(cc []string, p Place, args []string) []string {
	cmd := append(slices.Clone(cc), "-I"+p.Include)
	cmd = append(cmd, args...)
	if doesLink(args) {
		cmd = append(cmd, Link(p)...)
	}
	return cmd
}

// Link has the arguments with which a compiler links a program with the library, and the program finds it.
func Link(p Place) []string { return []string{"-L" + p.Lib, "-l" + library, "-Wl,-rpath," + p.Lib} }

// library is the name of the library for a compiler.
const library = "mpi_abi"

// doesLink tells that a compiler with these arguments links: there is something to link, and no option forbids it.
func doesLink(args []string) bool {
	input := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case slices.Contains(onlyCompiles, a):
			return false
		case slices.Contains(withValue, a):
			i++
		case a == "-" || !strings.HasPrefix(a, "-"):
			input = true
		}
	}
	return input
}
