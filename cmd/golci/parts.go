package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/golci/golci/cmd/golci/internal/launch"
	"github.com/golci/golci/internal/job/boot"
)

// part is a program of a job, and what is said of that alone.
type part struct {
	Ranks *int     `short:"n" aliases:"np" help:"Number of ranks, 1 to ${most}; default: one for each slot of the machines that -hosts or a scheduler gives, else 1." placeholder:"N"`
	Env   []string `sep:"none" help:"Set a variable for the ranks, or pass on its value here; may be repeated." placeholder:"K[=V]"`
	Dir   string   `name:"wdir" aliases:"wd" help:"Directory in which the ranks start, on every machine; default: this one, where a machine has it." placeholder:"DIR"`
	Argv  []string `arg:"" optional:"" passthrough:"" name:"prog" help:"Program, or Go package such as ./examples/hello, and its arguments. A word ':' and a further program, with -n and perhaps -env and -wdir before it, may follow."`
}

// colon is the word between the programs of a job.
const colon = ":"

// setArgs takes the program, its arguments, and the programs that follow.
func (r *runCmd) setArgs(l line) (err error) {
	words, more := l.program()
	r.Argv = words
	for number := 2; more && err == nil; number++ {
		var p part
		l, err = p.parsePart(number, l.rest[len(words)+1:])
		words, more = l.program()
		p.Argv = words
		r.more = append(r.more, p)
	}
	return err
}

// program is the program of a part with its arguments, and whether another part follows.
func (l line) program() (argv []string, more bool) {
	if i := slices.Index(l.rest, colon); i >= 0 && !l.whole {
		return l.rest[:i:i], true
	}
	return l.rest, false
}

// parsePart reads the flags of a part that is not the first one. The rest of l is the program and all that follows.
func (p *part) parsePart(number int, words []string) (l line, err error) {
	parser, err := kong.New(p, append(common(), kong.Name("golci run"), kong.NoDefaultHelp())...)
	if err != nil {
		return l, err
	}
	if l, err = longFlags(parser.Model.Node, words); err == nil {
		_, err = parser.Parse(l.own)
	}
	if u, ok := errors.AsType[unknownFlag](err); ok && ofRun(u.arg) {
		return l, fmt.Errorf("%s is for the whole job: it belongs before the first program, not in part %d",
			u.arg, number)
	}
	if err != nil {
		err = fmt.Errorf("part %d of the job: %w", number, err)
	}
	return l, err
}

// ofRun says whether arg is a flag of golci run.
func ofRun(arg string) bool {
	parser, err := newParser(&cli{})
	if err != nil {
		return false
	}
	flag, _ := flagOf(child(parser.Model.Node, "run"), arg)
	return flag != nil
}

// programParts are the programs of the job.
func (r *runCmd) programParts() []*part {
	all := []*part{&r.part}
	for i := range r.more {
		all = append(all, &r.more[i])
	}
	return all
}

// checkParts looks at the numbers of ranks, gives each variable its value, and makes directories absolute.
func (r *runCmd) checkParts() (err error) {
	parts := r.programParts()
	for i, p := range parts {
		if err := p.checkPart(i+1, len(parts)); err != nil {
			return err
		}
		if p.Env, err = withValues(p.Env, os.LookupEnv); err != nil {
			return err
		}
		if p.Dir == "" {
			continue
		}
		if p.Dir, err = filepath.Abs(p.Dir); err != nil {
			return fmt.Errorf("-wdir: %w", err)
		}
	}
	if n := r.askedRanks(); n != nil && *n > launch.MaxRanks {
		return wrongRanks("", *n)
	}
	return nil
}

// checkPart looks at one part of several, or at the only one.
func (p *part) checkPart(number, of int) error {
	name := ""
	if of > 1 {
		name = fmt.Sprintf("part %d of the job: ", number)
	}
	switch {
	case of > 1 && len(p.Argv) == 0:
		return fmt.Errorf("%sno program given", name)
	case of > 1 && p.Ranks == nil:
		return fmt.Errorf("%s%s needs its number of ranks: -n before it", name, p.Argv[0])
	case p.Ranks != nil && (*p.Ranks < 1 || *p.Ranks > launch.MaxRanks):
		return wrongRanks(name, *p.Ranks)
	}
	return nil
}

func wrongRanks(part string, n int) error {
	sayLine(fmt.Sprintf("%s-n %d: the number of ranks must be from 1 to %d", part, n, launch.MaxRanks))
	return exitCode(2)
}

// askedRanks is the number of ranks that the user wants; nil: no number is given.
func (r *runCmd) askedRanks() *int {
	if r.Ranks == nil {
		return nil
	}
	n := 0
	for _, p := range r.programParts() {
		n += *p.Ranks
	}
	return &n
}

// envVariables are those that -env gives to any ranks. The last one of a name counts for the launcher itself.
func (r *runCmd) envVariables() (env []string) {
	for _, p := range r.programParts() {
		env = append(env, p.Env...)
	}
	return env
}

// programCommands are the programs with their ranks. argvs has the path and the arguments of each. The variables of an
// only one are those of the job: ranks that are spawned get them, too.
func (r *runCmd) programCommands(argvs [][]string, only int) (cmds []boot.Command, env []string) {
	if len(argvs) == 1 {
		return []boot.Command{{Argv: argvs[0], N: only, Dir: r.Dir}}, r.Env
	}
	for i, p := range r.programParts() {
		cmds = append(cmds, boot.Command{Argv: argvs[i], N: *p.Ranks, Env: p.Env, Dir: p.Dir})
	}
	return cmds, nil
}

// noPackage says that there is nothing to build.
func (r *runCmd) noPackage() error {
	flags := strings.Join(r.buildFlags(), " ")
	if len(r.more) > 0 {
		return fmt.Errorf("%s: flags for go build, and the job has no Go package to build", flags)
	}
	return fmt.Errorf("%s: flags for go build, and %s is no Go package", flags, r.Argv[0])
}
