//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/golci/golci/mpi"
)

// Roles of ranks that send messages, and what they are told by the environment.
const (
	dirVar    = "GOLCI_TEST_DIR"    // where a rank of "talkers" puts its error, and the test allKnow
	roundsVar = "GOLCI_TEST_ROUNDS" // how many rounds the job has
)

// allKnow is the file that lets talkers end.
const allKnow = "all know"

func init() {
	mpiRoles["talkers"] = talkers
	mpiRoles["rounds"] = rounds
	mpiRoles["rounds to the end"] = roundsToTheEnd
	mpiRoles["stream"] = stream
}

// exchange has every rank send every other one n numbers, and checks what comes.
func exchange(c *mpi.Comm, round, n int) error {
	out, in := make([]int, n*c.Size()), make([]int, n*c.Size())
	for i := range out {
		out[i] = round + 1000*c.Rank() + i/n
	}
	if err := mpi.Alltoall(c, out, in); err != nil {
		return err
	}
	for i, got := range in {
		if want := round + 1000*(i/n) + c.Rank(); got != want {
			return fmt.Errorf("round %d: %d from rank %d, want %d", round, got, i/n, want)
		}
	}
	return nil
}

// talkers exchange messages in pairs until that fails. Each rank then puts its first error into a file, and goes on
// talking to the others: they are to fail by themselves, too. A rank heeds a signal to end only when the test has told
// that all ranks have their errors.
func talkers(c *mpi.Comm) error {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	name := filepath.Join(os.Getenv(dirVar), strconv.Itoa(c.Rank()))
	if err := c.Barrier(); err != nil {
		return err
	}
	fmt.Println(c.Rank(), os.Getpid())
	errs := make(chan error, c.Size())
	for peer := range c.Size() {
		if peer != c.Rank() {
			go func() { errs <- talkTo(c, peer) }()
		}
	}
	err := <-errs
	kind := "another error"
	if errors.Is(err, mpi.ErrPeer) {
		kind = "ErrPeer"
	}
	if e := os.WriteFile(name+".part", []byte(kind+": "+err.Error()), 0o600); e != nil {
		return e
	}
	if e := os.Rename(name+".part", name); e != nil {
		return e
	}
	// No other rank may learn of this rank's end first.
	if !eventually(func() bool { _, err := os.Stat(filepath.Join(os.Getenv(dirVar), allKnow)); return err == nil }) {
		return errors.Join(err, errors.New("the test has not told that all ranks know"))
	}
	select {
	case <-ended:
	case <-time.After(patience):
	}
	return err
}

// talkTo exchanges messages with one rank until that fails.
func talkTo(c *mpi.Comm, peer int) error {
	for in := []int{0}; ; time.Sleep(time.Millisecond) {
		if err := mpi.Send(c, []int{c.Rank()}, peer, 0); err != nil {
			return err
		}
		if _, err := mpi.Recv(c, in, peer, 0); err != nil {
			return err
		}
	}
}

// rounds exchange small and large messages in turn, as often as asked for.
func rounds(c *mpi.Comm) error {
	n, err := strconv.Atoi(os.Getenv(roundsVar))
	if err != nil {
		return err
	}
	for round := range n {
		if err := exchange(c, round, 1+round%2*2000); err != nil {
			return err
		}
	}
	return report(c)
}

// roundsToTheEnd is rounds until rank 0 sees the end of its input.
func roundsToTheEnd(c *mpi.Comm) error {
	ended := make(chan error, 1)
	if c.Rank() == 0 {
		go func() {
			_, err := io.Copy(io.Discard, os.Stdin)
			ended <- err
		}()
	}
	for round, over := 0, []bool{false}; ; round++ {
		if err := exchange(c, round, 1+round%2*2000); err != nil {
			return err
		}
		select {
		case err := <-ended:
			if over[0] = true; err != nil {
				return err
			}
		default:
		}
		if err := mpi.Bcast(c, over, 0); err != nil || over[0] {
			return errors.Join(err, report(c))
		}
	}
}

// stream has rank 0 send the last rank messages of 1 MiB, as many as asked for, each of which is answered.
func stream(c *mpi.Comm) error {
	n, err := strconv.Atoi(os.Getenv(roundsVar))
	if err != nil {
		return err
	}
	last := c.Size() - 1
	buf := make([]int, 1<<17)
	for round := range n {
		var ack [1]int
		switch c.Rank() {
		case 0:
			for i := range buf {
				buf[i] = round ^ i
			}
			if err := mpi.Send(c, buf, last, 0); err != nil {
				return err
			}
			if _, err := mpi.Recv(c, ack[:], last, 0); err != nil {
				return err
			}
		case last:
			if _, err := mpi.Recv(c, buf, 0, 0); err != nil {
				return err
			}
			for i, x := range buf {
				if x != round^i {
					return fmt.Errorf("round %d: number %d is %d, want %d", round, i, x, round^i)
				}
			}
			if err := mpi.Send(c, ack[:], 0, 0); err != nil {
				return err
			}
		}
	}
	return report(c)
}

// report has rank 0 say that all ranks have come to the end.
func report(c *mpi.Comm) error {
	if err := c.Barrier(); err != nil {
		return err
	}
	if c.Rank() == 0 {
		fmt.Printf("all %d ranks are done\n", c.Size())
	}
	return nil
}
