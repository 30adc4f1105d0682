package launch

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Guard is a second process that outlives a killed launcher by a moment. It reads the process groups and directories of
// the job from a pipe. If the pipe ends without a farewell it removes what is left of them. A nil Guard does nothing.
type Guard struct {
	cmd *exec.Cmd

	mu   sync.Mutex
	pipe io.WriteCloser // guarded by mu
}

const (
	guardAdd    = "+"
	guardRemove = "-"
	guardDir    = "d"
	guardBye    = "bye"
)

// StartGuard starts the guard as the command argv, which has to call GuardMain with its standard input.
func StartGuard(argv []string) (*Guard, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = guardAttr()
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Guard{cmd: cmd, pipe: pipe}, nil
}

// Add has the process group led by pid killed when the launcher dies.
func (g *Guard) Add(pid int) { g.tellGuard(guardAdd + strconv.Itoa(pid)) }

// Remove forgets the process group.
func (g *Guard) Remove(pid int) { g.tellGuard(guardRemove + strconv.Itoa(pid)) }

// AddDir makes the guard remove the directory when the launcher dies. It must be an absolute path.
func (g *Guard) AddDir(path string) { g.tellGuard(guardDir + strconv.Quote(path)) }

// Close dismisses the guard; nothing is left to remove.
func (g *Guard) Close() {
	if g == nil {
		return
	}
	g.tellGuard(guardBye)
	g.pipe.Close()
	_ = g.cmd.Wait()
}

// tellGuard loses its line if the guard is dead; then no process can take its place.
func (g *Guard) tellGuard(line string) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	_, _ = io.WriteString(g.pipe, line+"\n")
}

// GuardMain is the guard: it reads r to its end and then cleans up, unless it was dismissed.
func GuardMain(r io.Reader) {
	groups := map[int]bool{}
	var dirs []string
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case line == guardBye:
			return
		case strings.HasPrefix(line, guardDir):
			if d, err := strconv.Unquote(line[len(guardDir):]); err == nil && filepath.IsAbs(d) {
				dirs = append(dirs, d)
			}
		case line != "":
			if pid, err := strconv.Atoi(line[1:]); err == nil && pid > 1 {
				groups[pid] = strings.HasPrefix(line, guardAdd)
			}
		}
	}
	for pid, live := range groups {
		if live {
			KillGroup(pid)
		}
	}
	for _, d := range dirs {
		os.RemoveAll(d)
	}
}
