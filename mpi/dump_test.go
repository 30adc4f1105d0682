package mpi

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/invariants"
)

// reportOf is the report of c's rank, line by line.
func reportOf(c *Comm) []string {
	var b bytes.Buffer
	c.Proc().Dump(&b)
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// wantReport waits until the report of c's rank is want, below its head.
func wantReport(c *Comm, head string, want ...string) error {
	var got []string
	for end := time.Now().Add(patience / 4); time.Now().Before(end); time.Sleep(time.Millisecond) {
		got = reportOf(c)
		for i := range got {
			got[i] = strings.TrimSpace(got[i])
		}
		if slices.Equal(got, append([]string{head}, want...)) {
			return nil
		}
	}
	return fmt.Errorf("the report is\n%s\nwant\n%s\n%s", strings.Join(got, "\n"), head, strings.Join(want, "\n"))
}

// TestReport: a report names calls by function, communicator, peer, tag and bytes; calls of one kind are one line.
func TestReport(t *testing.T) {
	const threads = 200
	in := fmt.Sprint(threads, " threads: ")
	if invariants.Race { // its threads are goroutines
		in = fmt.Sprint(threads, " times: ")
	}
	must(t, 2, func(c *Comm) error {
		row, err := c.Split(c.Rank(), 0)
		if err != nil {
			return err
		}
		half, err := c.Dup()
		if err != nil {
			return err
		}
		if err := half.SetName("half"); err != nil {
			return err
		}
		if c.Rank() == 1 {
			if err := Send(half, make([]byte, 3), 0, 8); err != nil {
				return err
			}
			if _, err := Recv(c, one(), 0, 1000); err != nil { // when rank 0 has seen its report
				return err
			}
			for i := range threads {
				if err := Send(c, make([]int32, 2), 0, i); err != nil {
					return err
				}
			}
			return Bcast(half, one(), 1)
		}
		hs := make([]fult.Handle, threads)
		for i := range hs {
			if hs[i], err = c.Proc().Go(func() { _, _ = Recv(c, make([]int32, 2), 1, i) }); err != nil {
				return err
			}
		}
		own, err := Irecv(row, make([]byte, 1), AnySource, AnyTag)
		if err != nil {
			return err
		}
		cast := make(chan error, 1)
		go func() { cast <- Bcast(half, one(), 1) }()
		rest := []string{
			fmt.Sprintf("%sRecv on world from rank 1, tags 0..%d, 8 bytes", in, threads-1),
			"Bcast on half, call 1, root 1: waits for rank 1, 8 bytes",
			fmt.Sprintf("Irecv on %s from any rank, any tag, 1 byte", row.Name()),
			"not received: message on half from rank 1, tag 8, 3 bytes",
		}
		if invariants.Race {
			rest = append(rest, fmt.Sprint(threads, " threads on goroutines of their own"))
		}
		if err := wantReport(c, fmt.Sprintf("golci: rank 0 of 2: %d calls wait, %d threads, 1 message is not received", threads+2, threads), rest...); err != nil {
			return err
		}
		if err := Send(c, one(), 1, 1000); err != nil {
			return err
		}
		for _, h := range hs {
			if err := h.Join(); err != nil {
				return err
			}
		}
		if err := <-cast; err != nil {
			return err
		}
		if err := own.Cancel(); err != nil {
			return err
		}
		_, _ = own.Wait() // it has been cancelled
		return second(Recv(half, make([]byte, 3), 1, 8))
	}, With("GOLCI_CHECK", "off")) // else the call waits in a comparison, of another length
}

// TestReportOfThreads tells of threads that are in no call, with the line of one that runs.
func TestReportOfThreads(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		ch, stop := make(chan int), make(chan int)
		for range 3 {
			if _, err := c.Proc().Go(func() { fult.Recv(c.Proc().Threads().Current(), stop) }); err != nil {
				return err
			}
		}
		if _, err := c.Proc().Threads().GoOn(1, func(*fult.Thread) { ch <- 1 }); err != nil {
			return err
		}
		defer func() {
			<-ch
			close(stop)
		}()
		for end := time.Now().Add(patience / 4); time.Now().Before(end); time.Sleep(time.Millisecond) {
			text := strings.Join(reportOf(c), "\n")
			running := strings.Contains(text, "thread 1.0 runs, in ") && strings.Contains(text, "dump_test.go:")
			if invariants.Race {
				return nil // the detector's threads cannot be told apart
			}
			if running && strings.Contains(text, "\n  3 threads waiting outside of calls") && strings.Contains(text, ": 0 calls wait, 4 threads, ") {
				return nil
			}
		}
		return fmt.Errorf("the report is\n%s", strings.Join(reportOf(c), "\n"))
	}, WithWorkers(2))
}

// TestCommNames: names are local, and have defaults.
func TestCommNames(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		d, err := c.Dup()
		if err != nil {
			return err
		}
		var none *Comm
		def := fmt.Sprint("comm ", d.core().ID())
		for _, x := range []struct {
			c    *Comm
			name string
		}{{c, "world"}, {c.Proc().Self(), "self"}, {d, def}, {none, ""}} {
			if x.c.Name() != x.name {
				return fmt.Errorf("%q, want %q", x.c.Name(), x.name)
			}
		}
		for _, name := range []string{"row", ""} {
			if err := d.SetName(name); err != nil {
				return err
			}
			want := map[string]string{"row": "row", "": def}[name]
			if d.Name() != want || c.Proc().core().CommName(d.core().ID()) != want {
				return fmt.Errorf("%q, want %q", d.Name(), want)
			}
		}
		if err := d.Free(); err != nil {
			return err
		}
		if err := wants(ErrComm, d.SetName("x")); err != nil {
			return err
		}
		if got := c.Proc().core().CommName(d.core().ID()); !strings.Contains(got, "freed") {
			return fmt.Errorf("a freed one is called %q", got)
		}
		return wants(ErrComm, none.SetName("x"))
	})
}
