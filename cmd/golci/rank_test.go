//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/mpi"
)

// mpiRoles are roles that need the whole of package mpi; rank_test.go has those that do without.
var mpiRoles = map[string]func(c *mpi.Comm) error{}

// rankMain plays one rank of a test's job and returns its exit code.
func rankMain(role string) int {
	if r, ok := mpiRoles[role]; ok {
		return inMPI(r)
	}
	me := os.Getenv("PMI_RANK")
	switch role {
	case "talk":
		fmt.Print("one\ntwo\nhalf")
		fmt.Fprintln(os.Stderr, "to err")
		return 0
	case "cat":
		_, _ = io.Copy(os.Stdout, os.Stdin)
		return 0
	case "env":
		var values []string
		for _, name := range os.Args[1:] {
			values = append(values, os.Getenv(name))
		}
		fmt.Println(strings.Join(values, " "))
		return 0
	case "knock":
		_, err := net.Dial("tcp", os.Args[1])
		fmt.Println("refused:", errors.Is(err, syscall.ECONNREFUSED))
		return 0
	case "wait":
		fmt.Println(os.Getpid())
		time.Sleep(patience)
		return 0
	case "family":
		return family()
	case "usr1":
		return waitSignal()
	case "stubborn":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
	case "absent":
		if me != "1" {
			return min(joined(role), 1) // as the launcher's own code, which counts alone if it ends this rank first
		}
		return 0
	case "late":
		if me == "1" {
			time.Sleep(patience)
		}
	}
	return joined(role)
}

// inMPI plays a role that needs the whole of package mpi.
func inMPI(role func(c *mpi.Comm) error) int {
	p, err := mpi.Init()
	if err == nil {
		err = role(p.World())
	}
	if err == nil {
		err = p.Finalize()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	return 0
}

// joined plays the roles that are members of the job.
func joined(role string) int {
	ctx := context.Background()
	j, err := boot.Join(ctx, boot.WithLost(func(*boot.Job) { os.Exit(1) }))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	if role == "join" {
		fmt.Printf("rank %d of %d local %d launcher %s\n", j.Rank, j.Size, len(j.LocalRanks), j.Launcher)
	} else {
		fmt.Println(os.Getpid())
	}
	if err := j.Barrier(ctx); err != nil {
		return 4
	}
	if j.Rank == 1 {
		switch role {
		case "exit", "stubborn":
			return 5
		case "die":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		case "abort":
			_ = j.Abort(9, "enough is enough")
			return 9
		case "unfinished":
			return 0
		}
	}
	if role != "join" {
		time.Sleep(patience)
	}
	if err := j.Finalize(ctx); err != nil {
		return 4
	}
	return 0
}

// family starts a child, tells both process numbers, and waits.
func family() int {
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(os.Getpid(), child.Process.Pid)
	time.Sleep(patience)
	return 0
}

// waitSignal tells which signal it gets, and ends with 0 on SIGTERM.
func waitSignal() int {
	c := make(chan os.Signal, 4)
	signal.Notify(c, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTERM)
	fmt.Println("ready")
	for sig := range c {
		fmt.Println(sig)
		if sig == syscall.SIGTERM {
			return 0
		}
	}
	return 1
}
