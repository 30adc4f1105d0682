package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/golci/golci/internal/observe/settings"
)

// line is a command line. The parser gets none of rest, as it takes quadratic time.
type line struct {
	own   []string // for the parser
	rest  []string // the program and its arguments, as they are
	whole bool     // a "--" was before rest
}

// longFlags rewrites "-name" to "--name" for the flags of the command that args choose, as Go's tools write them. An
// unknown flag before a program is an error here: it would be taken for the program, or for several flags of one
// letter.
func longFlags(root *kong.Node, args []string) (l line, err error) {
	node := root
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--" && passesOn(node):
			l.rest, l.whole = args[i+1:], true
			return l, nil
		case arg == "--":
			l.own = append(l.own, args[i:]...)
			return l, nil
		case isForeign(node, arg):
			l.rest = args[i:]
			return l, nil
		}
		flag, long := flagOf(node, arg)
		switch {
		case long:
			arg = "-" + arg
		case flag != nil && len(arg) > 2 && arg[2] == '=': // -n=2
			arg = "--" + flag.Name + arg[2:]
		case flag == nil && !strings.HasPrefix(arg, "-"):
			if sub := child(node, arg); sub != nil {
				node = sub
			} else if passesOn(node) {
				l.rest = args[i:]
				return l, nil
			} else if node == root && len(node.Children) > 0 {
				return l, unknownCommand(node, arg)
			}
		case flag == nil && len(arg) > 1:
			return l, unknownFlag{root, node, arg}
		}
		if flag == nil || flag.IsBool() || hasValue(flag, arg) || i+1 == len(args) {
			l.own = append(l.own, arg)
			continue
		}
		i++
		if isDashed(flag, args[i]) {
			l.own = append(l.own, "--"+flag.Name+"="+args[i])
		} else {
			l.own = append(l.own, arg, args[i])
		}
	}
	return l, nil
}

// unknownCommand names the command that is meant, if one is almost so called.
func unknownCommand(root *kong.Node, name string) error {
	for _, c := range root.Children {
		if !c.Hidden && settings.Near(name, c.Name) {
			return fmt.Errorf("no command %s; did you mean %s?", name, c.Name)
		}
	}
	return fmt.Errorf("no command %s; golci help lists them", name)
}

// unknownFlag is a flag that the command node does not have.
type unknownFlag struct {
	root, node *kong.Node
	arg        string
}

func (u unknownFlag) Error() string {
	where, command := "", u.root.Name
	if u.node != u.root {
		command += " " + u.node.Name
	}
	if passesOn(u.node) {
		where = " before the program"
	}
	return fmt.Sprintf("unknown flag %s%s; %s -help lists those of golci", u.arg, where, command)
}

// isDashed says whether value, which begins with a dash, is meant for flag: a number, or flags for go build.
func isDashed(flag *kong.Flag, value string) bool {
	_, err := strconv.Atoi(value)
	return strings.HasPrefix(value, "-") && (err == nil || flag.Name == "build")
}

// flagOf finds the flag that arg names, and whether it is a long one written with a single dash.
func flagOf(node *kong.Node, arg string) (flag *kong.Flag, long bool) {
	name, ok := strings.CutPrefix(arg, "-")
	if !ok || name == "" {
		return nil, false
	}
	name, double := strings.CutPrefix(name, "-")
	name, _, _ = strings.Cut(name, "=")
	for _, group := range node.AllFlags(false) {
		for _, f := range group {
			if (f.Name == name || slices.Contains(f.Aliases, name)) && len(name) > 1 {
				return f, !double
			}
			if !double && f.Short != 0 && strings.HasPrefix(name, string(f.Short)) {
				flag = f
			}
		}
	}
	return flag, false
}

// hasValue says whether the flag's value is in arg itself, as in --name=x or -nx.
func hasValue(f *kong.Flag, arg string) bool {
	if strings.HasPrefix(arg, "--") {
		return strings.Contains(arg, "=")
	}
	return f.Short != 0 && len(arg) > 1+len(string(f.Short))
}

func child(node *kong.Node, name string) *kong.Node {
	for _, c := range node.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// passesOn says whether the command takes a program and its arguments as they are.
func passesOn(node *kong.Node) bool {
	for _, p := range node.Positional {
		if p.Passthrough {
			return true
		}
	}
	return false
}

// isForeign says whether arg is a flag for the program that the command runs: where that is known beforehand, all are
// but the command's own.
func isForeign(node *kong.Node, arg string) bool {
	if node.Tag == nil || !node.Tag.Has("foreign") || !strings.HasPrefix(arg, "-") {
		return false
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
	own := func(f *kong.Flag) bool { return f.Name == name }
	return name != "help" && !slices.ContainsFunc(node.Flags, own)
}
