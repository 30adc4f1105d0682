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

// roleRecover has a rank die instead of a collective. The others revoke, agree, shrink and go on.
func roleRecover(p *Proc) error {
	c := p.World()
	calls := deadly()
	which := calls[slices.IndexFunc(calls, func(d deadlyCall) bool { return d.name == os.Getenv("GOLCI_TEST_CALL") })]
	d, err := c.CreateCart([]int{c.Size()}, ring, false)
	if err != nil {
		return err
	}
	call, err := which.ready(d)
	if err = errors.Join(err, c.Barrier()); err != nil {
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
	if os.Getenv("GOLCI_TEST_KNOWN") != "" {
		for dead := []int{}; err == nil && len(dead) == 0; dead, err = d.GetFailed() {
			time.Sleep(time.Millisecond)
		}
	}
	begun := time.Now()
	pending, err := Irecv(d, one(), (c.Rank()+1)%c.Size(), 77)
	if err != nil && !errors.Is(err, ErrPeer) && !errors.Is(err, ErrRevoked) { // another rank may have been faster
		return err
	}
	failed := call()
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
	if err := done(d.Iagree(&flag)); err != nil || flag != ^uint64(0b1011) {
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
	if err := done(r, err); err != nil {
		return err
	}
	if err := errors.Join(f.Barrier(), e.Barrier(), hearsOfRevoke(f), f.Free(), e.Free(), d.Free()); err != nil {
		return err
	}
	fmt.Printf("went on after %d us\n", took.Microseconds())
	return nil
}

// hearsOfRevoke revokes c on rank 0. The others do nothing but ask.
func hearsOfRevoke(c *Comm) error {
	if c.Rank() == 0 {
		return c.Revoke()
	}
	for !c.Revoked() {
		time.Sleep(time.Millisecond)
	}
	return nil
}

// TestRecover: after the death of one of four ranks in any collective the others end it, agree, and go on without. That
// they do is tested; how long it takes until all have the error is printed.
func TestRecover(t *testing.T) {
	for _, conduit := range append([]string{"shm"}, networks...) {
		recovers(t, conduit)
	}
}

// TestRecoverOfTheKnown is TestRecover where the others know of the death before they begin the collective.
func TestRecoverOfTheKnown(t *testing.T) {
	recovers(t, "shm", "GOLCI_TEST_KNOWN=1")
}

// recovers kills a rank in each collective, in jobs with env beside the environment of the test.
func recovers(t *testing.T, conduit string, env ...string) {
	env = append(env, "GOLCI_CONDUIT="+conduit, "GOLCI_DEADAFTER=5s")
	for _, d := range deadly() {
		if testing.Short() && d.name != "Allreduce" && d.name != "IneighborAlltoallw" {
			continue
		}
		t.Run(conduit+"/"+d.name, func(t *testing.T) {
			t.Parallel()
			j := startProcesses(t, 4, "recover", append(slices.Clip(env), "GOLCI_TEST_CALL="+d.name)...)
			for r, cmd := range j.cmds {
				err := cmd.Wait()
				if r == victim {
					continue
				}
				if err != nil || !strings.Contains(j.outs[r].String(), "went on after ") {
					t.Errorf("rank %d: %v\n%s", r, err, j.text())
				}
			}
		})
	}
}
