package abi

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed functions.txt
var functionText string

// Function is a function of MPI, or a callback type.
type Function struct {
	Name       string // without MPI_
	Family     string // the section of the table
	Args       []Arg
	Returns    string // a kind, void, or "" for an error class
	Local      bool   // it returns without a call of MPI by any other process (2.4)
	Collective bool   // all processes of a group call it
	Deprecated string // since this version of the standard
	Alias      string // another name of a callback type
}

// Large tells that there is a form for large counts.
func (f *Function) Large() bool { return slices.ContainsFunc(f.Args, Arg.Differs) }

// Type is the type in C of what is returned.
func (f *Function) Type() string {
	switch f.Returns {
	case "":
		return "int"
	case "void":
		return "void"
	}
	return values[f.Returns][0]
}

// Params is the list of parameters in C, in the form for large counts or the other one.
func (f *Function) Params(large bool) string {
	var all []string
	for _, a := range f.Args {
		if large || !a.LargeOnly {
			all = append(all, a.Declare(large))
		}
	}
	if len(all) == 0 {
		return "void"
	}
	return strings.Join(all, ", ")
}

// ArgNames is the list of the names of the parameters, but of those that only the form for large counts has.
func (f *Function) ArgNames() string {
	var all []string
	for _, a := range f.Args {
		if !a.LargeOnly {
			all = append(all, a.Name)
		}
	}
	return strings.Join(all, ", ")
}

// Forms lists the names of the function without MPI_, and which of them is for large counts.
func (f *Function) Forms() map[string]bool {
	forms := map[string]bool{f.Name: false}
	if f.Large() {
		forms[f.Name+"_c"] = true
	}
	return forms
}

// parseFunctions reads the text of the table.
func parseFunctions(text string) (t Table, err error) {
	var family string
	var common []string // attributes of the family
	for _, line := range joinLines(text) {
		if head, ok := strings.CutPrefix(line, "["); ok {
			name, rest, ok := strings.Cut(head, "]")
			if !ok || name == "" {
				return t, fmt.Errorf("abi: %q begins no family", line)
			}
			family, common = name, strings.Fields(rest)
			continue
		}
		forms, err := parseFunction(line, family, common)
		if err != nil {
			return t, err
		}
		switch family {
		case "callback":
			t.Callbacks = append(t.Callbacks, forms...)
		case "extension":
			t.Extensions = append(t.Extensions, forms...)
		default:
			t.Functions = append(t.Functions, forms...)
		}
	}
	return t, nil
}

// joinLines gives the lines of the text without comments and empty ones, each with what continues it.
func joinLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == ' ' && len(lines) != 0:
			lines[len(lines)-1] += " " + strings.TrimSpace(line)
		default:
			lines = append(lines, line)
		}
	}
	return lines
}

// parseFunction reads a line: the function, and the forms that its attributes ask for.
func parseFunction(line, family string, common []string) ([]Function, error) {
	left, attributes, _ := strings.Cut(line, "|")
	left, returns, _ := strings.Cut(left, "->")
	words := strings.Fields(left)
	if len(words) == 0 {
		return nil, fmt.Errorf("abi: %q has no name", line)
	}
	f := Function{Name: words[0], Family: family, Returns: strings.TrimSpace(returns)}
	if _, ok := values[f.Returns]; !ok && f.Returns != "" && f.Returns != "void" {
		return nil, fmt.Errorf("abi: %s returns %q, which is no kind", f.Name, f.Returns)
	}
	for _, w := range words[1:] {
		a, err := parseArg(w)
		if err != nil {
			return nil, fmt.Errorf("%w in %s", err, f.Name)
		}
		f.Args = append(f.Args, a)
	}
	return applyAttributes(f, slices.Concat(common, strings.Fields(attributes)))
}

// parseArg reads an argument.
func parseArg(word string) (a Arg, err error) {
	rest, more := strings.CutPrefix(word, "+")
	name, kind, ok := strings.Cut(rest, ":")
	if !ok {
		kind = name
	}
	a = Arg{Name: name, LargeOnly: more}
	kind, a.Pointer = strings.CutPrefix(kind, "*")
	a.Kind, a.Many = strings.CutSuffix(kind, "[]")
	if !ok {
		a.Name = a.Kind
	}
	_, value := values[a.Kind]
	_, other := whole[a.argKey()]
	a.callback = strings.HasSuffix(a.Kind, "_function")
	if !value && (!other && !a.callback || a.Many || a.callback && a.Pointer) {
		return a, fmt.Errorf("abi: argument %q is of no kind", word)
	}
	return a, nil
}

// applyAttributes applies attributes to f, and makes the forms that they ask for.
func applyAttributes(f Function, attributes []string) ([]Function, error) {
	all := []Function{f}
	for _, a := range attributes {
		name, value, _ := strings.Cut(a, "=")
		switch name {
		case "local":
			all[0].Local = true
		case "collective":
			all[0].Collective = true
		case "deprecated":
			all[0].Deprecated = value
		case "alias":
			all[0].Alias = value
		case "nonlocal": // an exception in a family of local functions
			all[0].Local = false
		case "i":
			all = append(all, all[0].formAs("I"+strings.ToLower(f.Name[:1])+f.Name[1:], true, "*request"))
		case "init":
			all = append(all, all[0].formAs(f.Name+"_init", true, "*request"))
		case "plan":
			all = append(all, all[0].formAs(f.Name+"_init", false, "info", "*request"))
		default:
			return nil, fmt.Errorf("abi: %s has the unknown attribute %q", f.Name, a)
		}
	}
	return all, nil
}

// formAs is f under another name and with more arguments.
func (f *Function) formAs(name string, local bool, more ...string) Function {
	g := *f
	g.Name, g.Local, g.Args = name, local, slices.Clone(f.Args)
	for _, w := range more {
		a, _ := parseArg(w) // of kinds that are there
		g.Args = append(g.Args, a)
	}
	return g
}
