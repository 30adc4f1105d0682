// Command golci starts jobs, measures, and tells about the machine: golci run, golci bench, golci info.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/alecthomas/kong"
)

// cli is the command line. A sub-command that lives in a file of its own appends itself to commands from its init, so
// that files come and go without a change here.
type cli struct {
	Run   runCmd   `cmd:"" help:"Start a job of several ranks, on this machine or on several."`
	Info  infoCmd  `cmd:"" help:"Show the machine, the kernel's features, the launcher and all settings."`
	Guard guardCmd `cmd:"" hidden:""`
	kong.Plugins
}

// commands holds pointers to structs with fields tagged `cmd:""`.
var commands kong.Plugins

// exitCode is an error that only carries the process's exit code; its cause has been told already.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func main() { os.Exit(realMain(os.Args[1:])) }

// realMain runs one command and returns the exit code.
func realMain(args []string) (code int) {
	c := cli{Plugins: commands}
	parser, err := kong.New(&c, kong.Name("golci"),
		kong.Description("Messages between light-weight threads: start jobs, measure, look at the machine."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		return complain(err)
	}
	ctx, err := parser.Parse(longFlags(parser.Model.Node, args))
	if err != nil {
		parser.Errorf("%s", err)
		return 2
	}
	return complain(ctx.Run())
}

// complain prints err, if it has something to say, and returns the exit code for it.
func complain(err error) int {
	if err == nil {
		return 0
	}
	var code exitCode
	if errors.As(err, &code) {
		return int(code)
	}
	fmt.Fprintln(os.Stderr, "golci:", strings.TrimPrefix(err.Error(), "golci: "))
	return 1
}
