//go:build !unix

// Package console passes on to a rank what is typed at a terminal.
package console

import (
	"io"
	"os"
)

// Input is the way of typed lines from a terminal to a rank.
type Input struct{ theirs *os.File }

// Start begins to read the terminal tty, in advance.
func Start(tty *os.File, _ func(text string)) (*Input, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	go func() {
		_, _ = io.Copy(ours, tty) // the rank gets the end of the input
		ours.Close()
	}()
	return &Input{theirs}, nil
}

// File is what the rank reads.
func (i *Input) File() *os.File { return i.theirs }

// Close ends the input.
func (i *Input) Close() { i.theirs.Close() }
