package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/golci/golci/internal/abi"
)

const tableStart = "/* " + abi.Generated + ` */

/* The functions of MPI but for those that other files define as a whole. shim.c says what a row stands for. */
`

// body is what a C file has of a function.
type body int

const (
	none   body = iota
	behind      // its body: the function in front of it is in the table
	whole
)

var (
	// written finds the functions that a C file defines.
	written = regexp.MustCompile(`(?m)^ABI(_BODY|_FAST)?\(\w+, (\w+),`)
	// collective finds the rows of coll_table.h: the name of a collective, and that of the form that does not wait.
	collective = regexp.MustCompile(`(?m)^COLLECTIVE(_ONE|_V)?\((\w+), (\w+),`)
)

// bodies finds what the texts of C files have of functions, by names without MPI_.
func bodies(texts ...[]byte) (map[string]body, error) {
	have := make(map[string]body)
	var twice error
	add := func(name string, b body) {
		if have[name] != none {
			twice = fmt.Errorf("%s has two bodies", name)
		}
		have[name] = b
	}
	for _, text := range texts {
		for _, m := range written.FindAllSubmatch(text, -1) {
			if string(m[1]) == "_BODY" {
				add(string(m[2]), behind)
			} else {
				add(string(m[2]), whole)
			}
		}
		for _, m := range collective.FindAllSubmatch(text, -1) {
			for _, name := range []string{string(m[2]), string(m[3]), string(m[2]) + "_init"} {
				add(name, whole)
				if string(m[1]) != "_ONE" {
					add(name+"_c", whole)
				}
			}
		}
	}
	return have, twice
}

// writeTable gives the C text with a row for each function that is not whole in have.
func writeTable(t *abi.Table, have map[string]body) ([]byte, error) {
	var b strings.Builder
	b.WriteString(tableStart)
	known := make(map[string]bool)
	family := ""
	for i := range t.Functions {
		f := &t.Functions[i]
		known[f.Name], known[f.Name+"_c"] = true, f.Large()
		var own strings.Builder
		writeRows(&own, f, have)
		if own.Len() > 0 && f.Family != family {
			family = f.Family
			fmt.Fprintf(&b, "\n/* %s */\n", family)
		}
		b.WriteString(own.String())
	}
	b.WriteString("\n/* extension */\n")
	for i := range t.Extensions {
		writeFront(&b, "FRONT_X", &t.Extensions[i], t.Extensions[i].Name, false)
	}
	for name := range have {
		if !known[name] {
			return nil, fmt.Errorf("MPI has no function %s", name)
		}
	}
	return []byte(b.String()), nil
}

// writeRows writes the rows of the forms of a function. A handle has one for both conversions.
func writeRows(b *strings.Builder, f *abi.Function, have map[string]body) {
	large := f.Name + "_c"
	switch name, conversion := strings.CutSuffix(f.Name, "_fromint"); {
	case conversion:
		fmt.Fprintf(b, "HANDLE(%s, %s)\n", name, f.Type())
		return
	case strings.HasSuffix(f.Name, "_toint"):
		return
	case have[f.Name] == none && narrow(f) && have[large] == behind:
		writeFront(b, "FRONT_OF_BOTH", f, f.Name, true)
		return
	case have[f.Name] == none && narrow(f) && have[large] == whole:
		writeRow(b, "SMALL", f.Name, "("+f.ArgNames()+")", "("+declareBoth(f)+")")
		return
	}
	writeForm(b, f, f.Name, false, have[f.Name])
	if f.Large() {
		writeForm(b, f, large, true, have[large])
	}
}

// writeForm writes the row of one form.
func writeForm(b *strings.Builder, f *abi.Function, name string, large bool, is body) {
	switch is {
	case none:
		writeRow(b, "UNSUPPORTED", name, "("+f.Params(large)+")")
	case behind:
		writeFront(b, "FRONT", f, name, large)
	}
}

// writeFront writes the row of a function in front of a body.
func writeFront(b *strings.Builder, macro string, f *abi.Function, name string, large bool) {
	var names []string
	letters := ""
	for _, a := range f.Args {
		if large || !a.LargeOnly {
			names = append(names, a.Name)
			letters += letter(a)
		}
	}
	declared := f.Params(large)
	if macro == "FRONT_OF_BOTH" {
		declared = declareBoth(f)
	}
	writeRow(b, macro, name, fmt.Sprintf("%q", letters), "("+strings.Join(names, ", ")+")", "("+declared+")")
}

func writeRow(b *strings.Builder, macro string, words ...string) {
	abi.Wrap(b, macro+"(", strings.Join(words, ", "), ")")
}

// narrow tells that the form of f for ints only needs to call that for large counts.
func narrow(f *abi.Function) bool {
	for _, a := range f.Args {
		if a.Differs() && !a.Wide() {
			return false
		}
	}
	return f.Large()
}

// declareBoth gives the parameters of a function that is narrow, with macros for the types that differ.
func declareBoth(f *abi.Function) string {
	var all []string
	for _, a := range f.Args {
		small, large := a.Declare(false), a.Declare(true)
		for _, m := range []struct{ small, large, macro string }{
			{"int ", "MPI_Count ", "COUNT "}, {"int ", "MPI_Aint ", "UNIT "},
		} {
			if small == m.small+a.Name && large == m.large+a.Name {
				large = m.macro + a.Name
			}
		}
		all = append(all, large)
	}
	return strings.Join(all, ", ")
}

// letters are the kinds of arguments that are shown otherwise than as a number.
var letters = map[string]string{
	"comm": "c", "datatype": "t", "op": "o", "group": "G", "win": "w", "file": "f", "info": "I", "session": "S",
	"request": "q", "errhandler": "e", "message": "m", "count": "n", "bytes": "n", "n": "n", "rank": "r", "root": "r",
	"tag": "g", "in": "b", "out": "b", "inout": "b", "string": "s",
}

// letter is how the library shows an argument in the text of an error.
func letter(a abi.Arg) string {
	l := letters[a.Kind]
	switch {
	case a.Pointer || a.Many:
		return "p"
	case l != "":
		return l
	case strings.Contains(a.Declare(false), "*") || strings.Contains(a.Declare(false), "["):
		return "p"
	}
	return "i"
}

// handleKinds are the letters of handles.
var handleKinds = map[string]string{
	"MPI_Comm": "c", "MPI_Datatype": "t", "MPI_Op": "o", "MPI_Group": "G", "MPI_Win": "w", "MPI_File": "f",
	"MPI_Info": "I", "MPI_Session": "S", "MPI_Request": "q", "MPI_Errhandler": "e", "MPI_Message": "m",
}

// handleNames is the C text with the names of predefined handles.
func handleNames(t *abi.Table) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "/* %s */\n\nstatic const struct {\n    char kind;\n    unsigned long value;\n", abi.Generated)
	b.WriteString("    const char *name;\n} handle_names[] = {\n")
	for _, s := range t.Sections {
		for _, c := range s.Constants {
			if k := handleKinds[s.Type]; s.Form == abi.Handle && k != "" && c.Of == "" {
				fmt.Fprintf(&b, "    {'%s', %#x, \"MPI_%s\"},\n", k, c.Value, c.Name)
			}
		}
	}
	b.WriteString("};\n")
	return []byte(b.String())
}
