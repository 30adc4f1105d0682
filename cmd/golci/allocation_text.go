package main

import (
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/golci/golci/cmd/golci/internal/alloc"
)

// mostNamed is how many machines of an allocation are named.
const mostNamed = 8

// describeAllocation tells of an allocation in one line: "Slurm (SLURM_JOB_NODELIST): n1:3 (this machine), n2:1".
func describeAllocation(a *alloc.Allocation) string {
	var names []string
	for i, h := range a.Hosts {
		if i == mostNamed {
			names = append(names, fmt.Sprintf("%d more", len(a.Hosts)-mostNamed))
			break
		}
		name := h.Name
		if h.Slots > 0 {
			name += fmt.Sprintf(":%d", h.Slots)
		}
		if h.Here {
			name += " (this machine)"
		}
		names = append(names, name)
	}
	text := fmt.Sprintf("%s (%s): %s", a.Scheduler, a.From, strings.Join(names, ", "))
	if a.Why != "" {
		text += "; " + a.Why
	}
	return text
}

// infoAllocation prints the machines that golci run would use here, and how it would reach them.
func infoAllocation(w io.Writer, a *alloc.Allocation, err error) {
	switch {
	case err != nil:
		fmt.Fprintf(w, "allocation\t%v\n", err)
	case a == nil:
		fmt.Fprintf(w, "allocation\tnone: golci run uses this machine, or those of -hosts\n")
	default:
		fmt.Fprintf(w, "allocation\t%s\n", describeAllocation(a))
		fmt.Fprintf(w, "remote shell\t%s\n", shellText(a))
	}
}

// shellText is the remote shell, and whether there is such a program.
func shellText(a *alloc.Allocation) string {
	if a.Alone() {
		return "not needed"
	}
	text := strings.Join(a.Shell, " ")
	if _, err := exec.LookPath(a.Shell[0]); err != nil {
		text += fmt.Sprintf(" (cannot be started: %v)", err)
	}
	return text
}
