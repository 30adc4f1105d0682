// Command golci starts jobs (golci run), measures (golci bench), and describes the machine (golci info).
package main

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/golci/golci/cmd/golci/internal/launch"
	"github.com/golci/golci/cmd/golci/internal/launch/far"
)

// cli is the command line. Sub-commands in files of their own append themselves to commands from their init.
type cli struct {
	Run     runCmd           `cmd:"" help:"Start a job of several ranks, on this machine or on several."`
	Info    infoCmd          `cmd:"" help:"Show the machine, the kernel's features, the launcher and the settings."`
	Help    helpCmd          `cmd:"" help:"Describe a command and its flags."`
	Version versionCmd       `cmd:"" help:"Show the version."`
	Guard   guardCmd         `cmd:"" hidden:""`
	Ways    schemesCmd       `cmd:"" hidden:""`
	Show    kong.VersionFlag `name:"version" help:"Show the version." hidden:""`
	kong.Plugins
}

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"Command to describe; without one all are listed."`
}

// Run is the flag -help of the command.
func (h helpCmd) Run() error {
	if len(h.Command) > 1 && h.Command[0] != "trace" {
		sayLine(fmt.Sprintf("unexpected argument %s; golci help takes the name of a command", h.Command[1]))
		return exitCode(2)
	}
	if code := realMain(append(h.Command, "--help")); code != 0 {
		return exitCode(code)
	}
	return nil
}

type versionCmd struct{}

// Run prints the build information that the go command has put into the program.
func (versionCmd) Run() error {
	fmt.Println(version())
	return nil
}

// version is golci's version, with the commit unless that is in it, and the Go release and platform of the build.
func version() string {
	text := "golci (unknown version)"
	if b, ok := debug.ReadBuildInfo(); ok {
		text = "golci " + b.Main.Version
		for _, s := range b.Settings {
			if s.Key == "vcs.revision" && !strings.Contains(b.Main.Version, s.Value[:min(12, len(s.Value))]) {
				text += " " + s.Value[:min(12, len(s.Value))]
			}
		}
	}
	return fmt.Sprintf("%s, %s %s/%s", text, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// commands holds pointers to structs with fields tagged `cmd:""`.
var commands kong.Plugins

// exitCode is an error that only carries the process's exit code; its cause has been reported already.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func main() { os.Exit(realMain(os.Args[1:])) }

func realMain(args []string) (code int) {
	c := cli{Plugins: commands}
	parser, err := newParser(&c)
	if err != nil {
		return printError(err)
	}
	if len(args) == 0 {
		parser.Stdout = os.Stderr
		parser.Exit = func(int) {}
		_, _ = parser.Parse([]string{"--help"})
		return 2
	}
	ctx, err := parseArgs(parser, args)
	if err != nil {
		parser.Errorf("%s", err)
		return 2
	}
	return printError(ctx.Run())
}

func newParser(c *cli) (*kong.Kong, error) {
	return kong.New(c, append(common(), kong.Name("golci"),
		kong.Description("Messages between light-weight threads: start jobs, measure, look at the machine."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}))...)
}

// common are the options of each parser.
func common() []kong.Option {
	return []kong.Option{
		kong.Vars{"version": version(), "most": strconv.Itoa(launch.MaxRanks), "ssh": strings.Join(far.SSH, " ")},
		kong.KindMapper(reflect.String, kong.MapperFunc(asBytes)),
	}
}

// program is a command that takes a program, or the arguments of one.
type program interface{ setArgs(l line) error }

// parseArgs keeps the program and its arguments from the parser.
func parseArgs(parser *kong.Kong, args []string) (*kong.Context, error) {
	l, err := longFlags(parser.Model.Node, args)
	if err != nil {
		return nil, err
	}
	ctx, err := parser.Parse(l.own)
	if err != nil {
		return nil, err
	}
	if node := ctx.Selected(); node != nil {
		if p, ok := node.Target.Addr().Interface().(program); ok {
			err = p.setArgs(l)
		}
	}
	return ctx, err
}

// asBytes takes a value as it is. The parser's own way is through JSON, which replaces bytes that are not UTF-8.
func asBytes(ctx *kong.DecodeContext, target reflect.Value) error {
	t, err := ctx.Scan.PopValue("string")
	if err == nil {
		target.SetString(fmt.Sprint(t.Value))
	}
	return err
}

// printError prints err, if it has something to say, and returns the exit code for it.
func printError(err error) int {
	if err == nil {
		return 0
	}
	if code, ok := errors.AsType[exitCode](err); ok {
		return int(code)
	}
	fmt.Fprintln(os.Stderr, "golci:", strings.TrimPrefix(err.Error(), "golci: "))
	return 1
}
