package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/golci/golci/bench/job"
	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/platform/topology"
	"github.com/golci/golci/mpi"
)

// schemesCmd is the program of two ranks that golci info starts to learn how large messages travel here.
type schemesCmd struct{}

// schemeSends are the sizes in bytes that it sends and how often, so that each way is tried.
var schemeSends = []struct{ bytes, times int }{
	{32 << 10, 800}, {64 << 10, 800}, {256 << 10, 300}, {1 << 20, 80}, {4 << 20, 40},
}

// Run sends from rank 0 to rank 1. Rank 0 prints what both have learnt.
func (schemesCmd) Run() error {
	p, err := mpi.Init()
	if err != nil {
		return err
	}
	return errors.Join(tellSchemes(p.World()), p.Finalize())
}

func tellSchemes(c *mpi.Comm) error {
	for _, s := range schemeSends {
		buf := make([]byte, s.bytes)
		for range s.times {
			var err error
			if c.Rank() == 0 {
				err = mpi.Send(c, buf, 1, 0)
			} else {
				_, err = mpi.Recv(c, buf, 0, 0)
			}
			if err != nil {
				return err
			}
		}
	}
	own := ownSchemes(c.Proc())
	if c.Rank() == 1 {
		return mpi.Send(c, own, 0, 1)
	}
	st, err := c.Probe(1, 1)
	if err != nil {
		return err
	}
	others := make([]byte, st.Bytes())
	if _, err := mpi.Recv(c, others, 1, 1); err != nil {
		return err
	}
	fmt.Printf("%s%s", own, others)
	return nil
}

// ownSchemes are the lines on large messages of a rank's report.
func ownSchemes(p *mpi.Proc) (lines []byte) {
	var all bytes.Buffer
	p.Dump(&all)
	for line := range strings.Lines(all.String()) {
		if _, text, ok := strings.Cut(line, "large messages, rank "); ok {
			_, text, _ = strings.Cut(text, ", ") // without the peer
			lines = append(lines, text...)
		}
	}
	return lines
}

// schemePatience bounds how long golci info waits for the ranks.
const schemePatience = 10 * time.Second

// infoSchemes tells how large messages travel between two ranks of this machine, and what other ways would take.
func infoSchemes(w io.Writer, m topology.Map) {
	if _, _, size, _ := boot.Detect(os.LookupEnv); size > 1 { // they would all measure at once
		fmt.Fprintf(w, "large messages\tnot measured: this is one of %d ranks\n", size)
		return
	}
	if len(m.Cores()) < 2 {
		fmt.Fprintf(w, "large messages\tnot measured: one core\n")
		return
	}
	lines, err := measureSchemes()
	for _, line := range lines {
		fmt.Fprintf(w, "large messages\t%s, now\n", line)
	}
	switch {
	case err != nil:
		fmt.Fprintf(w, "large messages\tnot measured: %s\n", firstLine(err))
	case len(lines) == 0:
		fmt.Fprintf(w, "large messages\tone way: ranks do not reach each other's memory, or GOLCI_RENDEZVOUS fixes it\n")
	}
}

func measureSchemes() (lines []string, err error) {
	self, err := ownPath()
	if err != nil {
		return nil, err
	}
	err = job.Run(context.Background(), job.Job{
		Argv: []string{self, "run", "-allocation", "none", "-n", "2", self, "ways"}, Limit: schemePatience,
		Line: func(text []byte) error {
			if line := strings.TrimSpace(string(text)); line != "" {
				lines = append(lines, line)
			}
			return nil
		},
	})
	return lines, err
}

// firstLine is the first line of an error's text.
func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}
