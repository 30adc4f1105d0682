package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// rankInput is the standard input of rank 0, nil if nobody gets it. A terminal cannot be handed on: the ranks are in process groups of their
// own, and the kernel stops a process that reads a terminal from the background. So golci reads it for them.
func (r *runCmd) rankInput() (f *os.File, done func()) {
	if r.Input == "none" {
		return nil, func() {}
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return os.Stdin, func() {}
	}
	theirs, w, err := os.Pipe()
	if err != nil {
		return nil, func() {}
	}
	go func() {
		if inForeground() {
			_, _ = io.Copy(w, os.Stdin)
		}
		w.Close()
	}()
	return theirs, func() { theirs.Close() }
}
