package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/golci/golci/internal/abi"
)

const callsStart = "/* " + abi.Generated + ` */

/* The functions whose bodies are in other files. Each tells the program of errors, with its arguments: see left. */
`

// behind finds the functions whose body is behind another function.
var behind = regexp.MustCompile(`(?m)^ABI_BODY\(int, (\w+),`)

// calls is the C text with the functions that are in front of the bodies in texts.
func calls(t *abi.Table, texts ...[]byte) []byte {
	bodies := make(map[string]bool)
	for _, text := range texts {
		for _, m := range behind.FindAllSubmatch(text, -1) {
			bodies[string(m[1])] = true
		}
	}
	var b strings.Builder
	b.WriteString(callsStart)
	for i := range t.Functions {
		f := &t.Functions[i]
		if bodies[f.Name] {
			writeCall(&b, f, f.Name, false)
		}
		if f.Large() && bodies[f.Name+"_c"] {
			writeCall(&b, f, f.Name+"_c", true)
		}
	}
	for i := range t.Extensions {
		writeBehind(&b, "ABIX", "PMPIX", "dox", &t.Extensions[i], t.Extensions[i].Name, false)
	}
	return []byte(b.String())
}

func writeCall(b *strings.Builder, f *abi.Function, name string, large bool) {
	writeBehind(b, "ABI", "PMPI", "do", f, name, large)
}

// writeBehind writes a function that a macro begins. The body begins with another prefix.
func writeBehind(b *strings.Builder, macro, prefix, body string, f *abi.Function, name string, large bool) {
	var names, kinds, values []string
	for _, a := range f.Args {
		if a.LargeOnly && !large {
			continue
		}
		names = append(names, a.Name)
		kinds = append(kinds, letter(a)+a.Name)
		values = append(values, "(unsigned long)"+a.Name)
	}
	fmt.Fprintf(b, "\nextern __typeof__(%s_%s) %s_%s HIDDEN;\n", prefix, name, body, name)
	abi.Wrap(b, fmt.Sprintf("%s(int, %s, (", macro, name), f.Params(large), "))")
	abi.Wrap(b, fmt.Sprintf("{\n    int class = %s_%s(", body, name), strings.Join(names, ", "), ");")
	shown := name
	if macro == "ABIX" {
		shown = "X_" + name
	}
	if len(names) == 0 {
		fmt.Fprintf(b, "    return OK(class) ? class : left(class, %q, \"\", NULL);\n}\n", shown)
		return
	}
	fmt.Fprintf(b, "    return OK(class) ? class : left(class, %q,\n        %q,\n", shown, strings.Join(kinds, " "))
	abi.Wrap(b, "        (const unsigned long[]){", strings.Join(values, ", "), "});")
	b.WriteString("}\n")
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
