package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// session is a shell script at a terminal of its own, and what it prints.
type session struct {
	lineReader
	keys  *os.File // what is typed
	tty   int      // the terminal, to look at
	fifo  string   // whoever opens it waits for release
	ended func() int
}

// atTerminal starts a script that finds golci and its arguments in "$@", and the fifo in $FIFO.
func atTerminal(t *testing.T, script string, args ...string) *session {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there are no terminals: %v", err)
	}
	t.Cleanup(func() { keys.Close() })
	if err := unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("the terminal cannot be opened: %v", err)
	}
	t.Cleanup(func() { tty.Close() })
	s := &session{keys: keys, tty: int(tty.Fd()), fifo: filepath.Join(t.TempDir(), "fifo")}
	if err := unix.Mkfifo(s.fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := golci(t, args...)
	cmd.Args = append([]string{"sh", "-c", "exec 2>&1; " + script, "sh", cmd.Path}, cmd.Args[1:]...)
	cmd.Path, cmd.Stdin, cmd.Env = "/bin/sh", tty, append(cmd.Env, "FIFO="+s.fifo)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	s.lineReader = startLines(t, cmd)
	s.ended = func() int {
		_ = cmd.Wait()
		return cmd.ProcessState.ExitCode()
	}
	return s
}

// until reads lines up to want.
func (s *session) until(want string) {
	s.t.Helper()
	var all []string
	for !strings.Contains(strings.Join(all, "\n"), want) {
		all = append(all, s.next())
	}
}

func (s *session) typed(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.keys, text); err != nil {
		s.t.Fatal(err)
	}
}

// unread waits until there are at most n characters of whole lines that nobody has read.
func (s *session) unread(n int) {
	s.t.Helper()
	if !eventually(func() bool {
		got, err := unix.IoctlGetInt(s.tty, unix.TIOCINQ)
		return err == nil && got <= n
	}) {
		s.t.Fatal("the launcher does not read the terminal")
	}
}

// release lets one reader of the fifo go on.
func (s *session) release() {
	s.t.Helper()
	f, err := os.OpenFile(s.fifo, os.O_WRONLY, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	f.Close()
}

// readThree is the rest of a script: a shell that reads three lines.
const readThree = `for i in 1 2 3; do read -r x; echo "$i: $x"; done`

// waits is a rank that reads no input and waits for release.
var waits = []string{"run", "-n", "1", "sh", "-c", "echo ready; : <$FIFO"}

// TestTypeAhead: lines that the job does not read stay for the shell, in their order, with a line that has no end yet.
func TestTypeAhead(t *testing.T) {
	s := atTerminal(t, `"$@"; `+readThree, waits...)
	s.until("ready")
	s.typed("echo hi\nsecond\\\nthi")
	s.unread(len("second\\\n"))
	s.release()
	line := s.next()
	if strings.Contains(line, "TIOCSTI") {
		t.Skip("this kernel takes nothing back")
	}
	s.typed("rd\n")
	for _, want := range []string{"1: echo hi", `2: second\`, "3: third"} {
		if line != want {
			t.Errorf("the shell reads %q, want %q", line, want)
		}
		if want[0] != '3' {
			line = s.next()
		}
	}
	s.ended()
}

// TestTypeAheadInterrupted: Ctrl-C forgets what was typed, as the terminal does.
func TestTypeAheadInterrupted(t *testing.T) {
	s := atTerminal(t, `trap : INT; "$@"; echo "code $?"; read -r x; echo "left: $x"`, waits...)
	s.until("ready")
	s.typed("rm precious\n")
	s.unread(0)
	s.typed("\x03")
	s.until("code 130")
	s.typed("next\n")
	s.until("left: next")
	s.ended()
}

// TestTerminalInput: rank 0 gets what is typed, line by line, and Ctrl-D ends it. Later lines are the shell's.
func TestTerminalInput(t *testing.T) {
	s := atTerminal(t, `"$@"; read -r x; echo "left: $x"`, "run", "-n", "1", "sh", "-c",
		`echo ready; while read -r x; do echo "got $x"; done; echo end`)
	s.until("ready")
	s.typed("one\n")
	s.until("got one")
	s.typed("two\nthree\n\x04four\n")
	for _, want := range []string{"got two", "got three", "end", "left: four"} {
		if line := s.next(); line != want {
			t.Errorf("%q, want %q", line, want)
		}
	}
	s.ended()
}

// TestBackgroundInput: a job in the background says that it gets no input, and gets it in the foreground.
func TestBackgroundInput(t *testing.T) {
	s := atTerminal(t, `set -m; "$@" & : <$FIFO; fg >/dev/null; echo "ended $?"`, "run", "-n", "1", "cat")
	s.until("golci: the job is in the background: rank 0 gets no input before the job is in the foreground; " +
		"with -stdin none it gets none")
	s.typed("a line\n\x04")
	s.release()
	for _, want := range []string{"a line", "ended 0"} {
		if line := s.next(); line != want {
			t.Errorf("%q, want %q", line, want)
		}
	}
	s.ended()
}
