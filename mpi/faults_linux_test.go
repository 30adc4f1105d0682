package mpi

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func init() {
	roles["recover"] = roleRecover
}

// victim is the rank that dies, in the world.
const victim = 2

// deadly are collectives that need all ranks: each rank brings a value that the others get, or waits for them.
var deadly = []struct {
	name string
	call func(c *Comm) error
}{
	{"Barrier", func(c *Comm) error { return c.Barrier() }},
	{"Bcast", func(c *Comm) error { return Bcast(c, make([]int, 9000), victim) }},
	{"Reduce", func(c *Comm) error { return Reduce(c, one(), one(), Sum, 0) }},
	{"Allreduce", func(c *Comm) error { return Allreduce(c, one(), one(), Sum) }},
	{"Gather", func(c *Comm) error { return Gather(c, one(), make([]int, c.Size()), 0) }},
	{"Scatter", func(c *Comm) error { return Scatter(c, make([]int, c.Size()), one(), victim) }},
	{"Allgather", func(c *Comm) error { return Allgather(c, one(), make([]int, c.Size())) }},
	{"Alltoall", func(c *Comm) error { return Alltoall(c, make([]int, c.Size()), make([]int, c.Size())) }},
	{"Scan", func(c *Comm) error { return Scan(c, one(), one(), Sum) }},
	{"Ibarrier", func(c *Comm) error { return awaited(c.Ibarrier()) }},
	{"Iallreduce", func(c *Comm) error { return awaited(Iallreduce(c, one(), one(), Sum)) }},
	{"Ialltoall", func(c *Comm) error {
		return awaited(Ialltoall(c, make([]int, c.Size()), make([]int, c.Size())))
	}},
}

func awaited(r Request, err error) error {
	if err != nil {
		return err
	}
	_, err = r.Wait()
	return err
}

// roleRecover has a rank die instead of a collective. The others revoke, agree, shrink and go on.
func roleRecover(p *Proc) error {
	c := p.World()
	which := deadly[slices.IndexFunc(deadly, func(d struct {
		name string
		call func(c *Comm) error
	},
	) bool {
		return d.name == os.Getenv("GOLCI_TEST_CALL")
	})]
	d, err := c.Dup()
	if err != nil {
		return err
	}
	for range 10 { // so that later collectives go over memory
		if err := d.Barrier(); err != nil {
			return err
		}
	}
	if c.Rank() == victim {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // cannot fail
	}
	begun := time.Now()
	pending, err := Irecv(d, one(), (c.Rank()+1)%c.Size(), 77)
	if err != nil && !errors.Is(err, ErrPeer) && !errors.Is(err, ErrRevoked) { // another rank may have been faster
		return err
	}
	failed := which.call(d)
	if failed != nil && !errors.Is(failed, ErrPeer) && !errors.Is(failed, ErrRevoked) {
		return fmt.Errorf("%s: %w", which.name, failed)
	}
	if failed != nil {
		if err := d.Revoke(); err != nil {
			return err
		}
	}
	if err == nil {
		_, err = pending.Wait()
	}
	if !errors.Is(err, ErrRevoked) && !errors.Is(err, ErrPeer) {
		return fmt.Errorf("a receive that was pending: %w", errors.Join(err, errors.New("no ErrRevoked")))
	}
	err = d.Barrier()
	if errors.Is(err, ErrPeer) { // the news of the failure came before that of the end
		err = errors.Join(d.Revoke(), d.Barrier())
	}
	if !errors.Is(err, ErrRevoked) {
		return fmt.Errorf("a barrier after it: %w", errors.Join(err, errors.New("no ErrRevoked")))
	}
	took := time.Since(begun)
	for _, err := range []error{Send(d, one(), 0, 1), second(Recv(d, one(), 0, 1)), second(d.Probe(0, 1))} {
		if !errors.Is(err, ErrRevoked) || !d.Revoked() {
			return fmt.Errorf("after Revoke: %w", errors.Join(err, errors.New("no ErrRevoked")))
		}
	}
	if flag, err := d.Agree(uint64(1<<c.Rank()) | 1<<40); flag != 1<<40 || !errors.Is(err, ErrPeer) {
		return fmt.Errorf("agreed on %x: %w", flag, err)
	}
	dead, err := d.GetFailed()
	if err != nil || !slices.Equal(dead, []int{victim}) {
		return fmt.Errorf("dead: %v, %w", dead, err)
	}
	if n, err := d.AckFailed(len(dead)); n != 1 || err != nil {
		return fmt.Errorf("acknowledged %d: %w", n, err)
	}
	flag := ^uint64(1 << c.Rank())
	if err := awaited(d.Iagree(&flag)); err != nil || flag != ^uint64(0b1011) {
		return fmt.Errorf("agreed on %x: %w", flag, err)
	}
	e, err := d.Shrink()
	if err != nil {
		return err
	}
	sum, err := AllreduceOne(e, c.Rank(), Sum)
	if err != nil || sum != 0+1+3 || e.Size() != 3 {
		return fmt.Errorf("the sum of %d survivors is %d: %w", e.Size(), sum, err)
	}
	f, r, err := e.Ishrink()
	if err := awaited(r, err); err != nil {
		return err
	}
	if err := errors.Join(f.Barrier(), f.Free(), e.Free(), d.Free()); err != nil {
		return err
	}
	fmt.Printf("went on after %v\n", took)
	return nil
}

// TestRecover: after the death of one of four ranks in any collective the others end it, agree, and go on without.
func TestRecover(t *testing.T) {
	for _, conduit := range []string{"shm", "udp"} {
		for _, d := range deadly {
			if testing.Short() && d.name != "Allreduce" {
				continue
			}
			t.Run(conduit+"/"+d.name, func(t *testing.T) {
				t.Setenv("GOLCI_CONDUIT", conduit)
				t.Setenv("GOLCI_UDP_DEADAFTER", "1s")
				t.Setenv("GOLCI_TEST_CALL", d.name)
				j := startProcesses(t, 4, "recover")
				for r, cmd := range j.cmds {
					err := cmd.Wait()
					text := j.outs[r].String()
					if r != victim && (err != nil || !strings.Contains(text, "went on")) {
						t.Errorf("rank %d: %v\n%s", r, err, j.text())
					} else if r != victim {
						t.Log(text)
					}
				}
			})
		}
	}
}
