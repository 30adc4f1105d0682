//go:build linux

package main

import (
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// TestTool runs a program that looks at the variables of the interface for tools, whose values the environment has.
func TestTool(t *testing.T) {
	frame, err := os.ReadFile("testdata/check.h")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/tool/tool.c")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(compile(t, string(frame)+"#line 1 \"tool.c\"\n"+string(text)))
	cmd.Env = append(os.Environ(), "GOLCI_LOAN=77", "GOLCI_SPIN=200us", "GOLCI_UNEXPECTED=2M", "GOLCI_SERVER=waiter",
		"GOLCI_DEBUG=off", "GOLCI_UDP_FAULTS=off")
	if out := output(t, cmd); !regexp.MustCompile(`^[1-9]\d* checks\n$`).MatchString(out) {
		t.Error(out)
	}
}

// TestToolSettings: the interface does not start where a setting cannot be read.
func TestToolSettings(t *testing.T) {
	cmd := exec.Command(compile(t, `#include <mpi.h>
#include <stdio.h>
int main(void)
{
    int n, class = MPI_T_init_thread(MPI_THREAD_SINGLE, &n);
    printf("%d %d\n", class == MPI_T_ERR_CANNOT_INIT, MPI_T_cvar_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED);
    return 0;
}
`))
	cmd.Env = append(os.Environ(), "GOLCI_SPIN=soon")
	if out := output(t, cmd); out != "1 1\n" {
		t.Error(out)
	}
}
