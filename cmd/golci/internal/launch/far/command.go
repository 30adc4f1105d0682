package far

import (
	"path/filepath"

	"github.com/golci/golci/internal/job/boot"
)

// command is a program of a task. It is a path on the machine, or a copy that has come before.
type command struct {
	boot.Command        // Argv[0] is "" for a copy; Dir has to be there, unless it is ""
	Copy         int    // number of the copy, from 1 on; 0: it is a path
	Base         string // name of the copy, for process lists
}

// maxCopies bounds the copies of a task: each of its ranks may have a program of its own.
const maxCopies = 1 << 12

// commandsOf is what of cmds falls to count ranks from first on. Its commands have ranks.
func commandsOf(cmds []boot.Command, first, count int) (out []boot.Command) {
	at := 0
	for _, c := range cmds {
		from, to := max(at, first), min(at+c.N, first+count)
		at += c.N
		if c.N = to - from; c.N > 0 {
			out = append(out, c)
		}
	}
	return out
}

// copiedPrograms lists the programs of cmds that are copied, each once.
func copiedPrograms(cmds []boot.Command, copies map[string]bool) (paths []string) {
	seen := map[string]bool{}
	for _, c := range cmds {
		if path := c.Argv[0]; copies[path] && !seen[path] {
			seen[path] = true
			paths = append(paths, path)
		}
	}
	return paths
}

// taskCommands makes cmds the commands of a task, for which the programs in copies have been copied in their order.
func taskCommands(cmds []boot.Command, copies []string) (out []command) {
	number := map[string]int{}
	for i, path := range copies {
		number[path] = i + 1
	}
	for _, c := range cmds {
		t := command{Command: c, Copy: number[c.Argv[0]]}
		if t.Copy > 0 {
			t.Base = filepath.Base(c.Argv[0])
			t.Argv = append([]string{""}, c.Argv[1:]...)
		}
		out = append(out, t)
	}
	return out
}
