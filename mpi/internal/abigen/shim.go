package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/golci/golci/internal/abi"
)

const shimStart = "/* " + abi.Generated + ` */

/* The bodies of functions that no other file of this directory has: conversions of handles, functions that call their
   form for large counts, and the rest, which is not supported. */
`

// written finds the functions with a body in a C file of capi.
var written = regexp.MustCompile(`(?m)^ABI(?:_BODY|_FAST)?\(\w+, (\w+),`)

// bodies gives the names of the functions with a body in one of the texts, without MPI_.
func bodies(texts ...[]byte) (map[string]bool, error) {
	have := make(map[string]bool)
	for _, text := range texts {
		for _, m := range written.FindAllSubmatch(text, -1) {
			if have[string(m[1])] {
				return nil, fmt.Errorf("%s has two bodies", m[1])
			}
			have[string(m[1])] = true
		}
	}
	return have, nil
}

// shim is the C text with the bodies of all functions that are not in have.
func shim(t *abi.Table, have map[string]bool) ([]byte, error) {
	var b strings.Builder
	b.WriteString(shimStart)
	known := make(map[string]bool)
	family := ""
	for i := range t.Functions {
		f := &t.Functions[i]
		if f.Family != family {
			family = f.Family
			fmt.Fprintf(&b, "\n/* %s */\n", family)
		}
		known[f.Name], known[f.Name+"_c"] = true, f.Large()
		if !have[f.Name] {
			writeBody(&b, f, f.Name, false, have)
		}
		if f.Large() && !have[f.Name+"_c"] {
			writeBody(&b, f, f.Name+"_c", true, have)
		}
	}
	for name := range have {
		if !known[name] {
			return nil, fmt.Errorf("MPI has no function %s", name)
		}
	}
	return []byte(b.String()), nil
}

func writeBody(b *strings.Builder, f *abi.Function, name string, large bool, have map[string]bool) {
	abi.Wrap(b, fmt.Sprintf("ABI(%s, %s, (", f.Type(), name), f.Params(large), "))")
	if !large && narrow(f, have) {
		abi.Wrap(b, "{ return PMPI_"+f.Name+"_c(", f.ArgNames(), "); }")
		return
	}
	fmt.Fprintf(b, "{ return %s; }\n", result(f, name))
}

// narrow tells that f only needs to call its form for large counts, which has a body.
func narrow(f *abi.Function, have map[string]bool) bool {
	if !have[f.Name+"_c"] {
		return false
	}
	for _, a := range f.Args {
		if a.LargeOnly || a.Differs() && !a.Wide() {
			return false
		}
	}
	return true
}

// result is what a body without statements returns.
func result(f *abi.Function, name string) string {
	switch {
	case strings.HasSuffix(name, "_toint"):
		return "(int)(intptr_t)" + f.Args[0].Name
	case strings.HasSuffix(name, "_fromint"):
		return "(" + f.Type() + ")(intptr_t)" + f.Args[0].Name
	}
	return fmt.Sprintf("left(unsupported(), %q, NULL, NULL)", name)
}
