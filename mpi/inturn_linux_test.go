package mpi

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// inTurnVar names the folder of the pipes of a meeting of processes.
const inTurnVar = "GOLCI_TEST_MPI_PIPES"

// pipes are a meeting of ranks that are processes. Each opens both pipes for reading and writing, so that none waits.
func pipes(dir string) (m agreed, end func() error, err error) {
	ready, err := os.OpenFile(filepath.Join(dir, "ready"), os.O_RDWR, 0)
	sent, e := os.OpenFile(filepath.Join(dir, "sent"), os.O_RDWR, 0)
	if err := errors.Join(err, e); err != nil {
		return m, nil, err
	}
	tell := func(f *os.File) func() error { return func() error { return second(f.Write([]byte{1})) } }
	hear := func(f *os.File) func() error { return func() error { return second(f.Read(make([]byte, 1))) } }
	end = func() error { return errors.Join(ready.Close(), sent.Close()) }
	return agreed{ready: tell(ready), sent: tell(sent), readied: hear(ready), went: hear(sent)}, end, nil
}

// roleInTurnShared is roleInTurn between processes.
func roleInTurnShared(p *Proc) error {
	m, end, err := pipes(os.Getenv(inTurnVar))
	if err != nil {
		return err
	}
	return errors.Join(roleInTurn(p.World(), m, true), end())
}

// TestCallsPollInTurnOverSharedMemory is TestCallsPollInTurn between processes.
func TestCallsPollInTurnOverSharedMemory(t *testing.T) {
	t.Setenv("GOLCI_CONDUIT", "shm")
	t.Setenv("GOLCI_SERVER", "waiter")
	dir := t.TempDir()
	t.Setenv(inTurnVar, dir)
	for _, name := range []string{"ready", "sent"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	j := startProcesses(t, 2, "inturn")
	for r, cmd := range j.cmds {
		err := cmd.Wait()
		if want := fmt.Sprintf("rank %d is done", r); err != nil || !strings.Contains(j.outs[r].String(), want) {
			t.Fatalf("rank %d: %v\n%s", r, err, j.text())
		}
	}
}
