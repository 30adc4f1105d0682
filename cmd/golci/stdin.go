package main

import (
	"os"

	"golang.org/x/term"

	"github.com/golci/golci/cmd/golci/internal/console"
)

// rankInput is the standard input of rank 0, nil if nobody gets it. A terminal cannot be handed on, so golci reads it.
func (r *runCmd) rankInput() (f *os.File, done func()) {
	if r.Input == "none" {
		return nil, func() {}
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return os.Stdin, func() {}
	}
	in, err := console.Start(os.Stdin, sayLine)
	if err != nil {
		return nil, func() {}
	}
	return in.File(), in.Close
}
