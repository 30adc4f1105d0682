package mpi

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

// TestPartitioned has partitions of both sides in all ratios, ready in a random order, over several starts (4.2). The
// receive may be made and started before or after the send.
func TestPartitioned(t *testing.T) {
	seed := source(t)
	for _, n := range [][3]int{
		{1, 1, 3},
		{8, 8, 64},
		{1, 16, 64},
		{33, 17, 561},
		{17, 33, 561},
		{5000, 500, 20000},
		{4, 4, 1 << 17},
	} {
		must(t, 2, func(c *Comm) error {
			rnd := rand.New(rand.NewPCG(seed, uint64(c.Rank())))
			send, recv, elems := n[0], n[1], n[2]
			buf := make([]int32, elems)
			if c.Rank() == 0 {
				return partSender(c, buf, send, rnd)
			}
			return partReceiver(c, buf, recv)
		})
	}
}

const partRounds = 4

func partSender(c *Comm, buf []int32, parts int, rnd *rand.Rand) error {
	r, err := PsendInit(c, buf, parts, 1, 5)
	if err != nil {
		return err
	}
	for round := range partRounds {
		if err := r.Start(); err != nil {
			return err
		}
		one := len(buf) / parts
		for left, i := range rnd.Perm(parts) {
			for k := i * one; k < (i+1)*one; k++ {
				buf[k] = int32(k + round*1000)
			}
			if err := r.Pready(i); err != nil {
				return err
			}
			if err := r.Pready(i); left+1 < parts && !errors.Is(err, ErrArgument) {
				return fmt.Errorf("ready twice: %w", err)
			}
		}
		if _, err := r.Wait(); err != nil {
			return err
		}
	}
	return r.Free()
}

func partReceiver(c *Comm, buf []int32, parts int) error {
	r, err := PrecvInit(c, buf, parts, 0, 5)
	if err != nil {
		return err
	}
	for round := range partRounds {
		clear(buf)
		if err := r.Start(); err != nil {
			return err
		}
		one := len(buf) / parts
		for i := parts - 1; i >= 0; i-- {
			for here := false; !here; {
				if here, err = r.Parrived(i); err != nil {
					return err
				}
			}
			for k := i * one; k < (i+1)*one; k++ {
				if buf[k] != int32(k+round*1000) {
					return fmt.Errorf("round %d: element %d is %d", round, k, buf[k])
				}
			}
		}
		st, err := r.Wait()
		if err != nil || st.Source != 0 || st.Tag != 5 || st.Bytes() != int64(4*len(buf)) {
			return fmt.Errorf("status %+v, %w", st, err)
		}
		if here, err := r.Parrived(0); !here || err != nil {
			return fmt.Errorf("inactive: %t, %w", here, err)
		}
	}
	return r.Free()
}

// TestPartitionedThreads has a goroutine for each partition. Nothing has come before a partition is ready.
func TestPartitionedThreads(t *testing.T) {
	const parts = 8
	must(t, 2, func(c *Comm) error {
		buf := make([]int, parts)
		if c.Rank() == 1 {
			r, err := PrecvInit(c, buf, parts, 0, 0)
			if err := errors.Join(err, r.Start()); err != nil {
				return err
			}
			if here, err := r.Parrived(3); here || err != nil {
				return fmt.Errorf("here before it is ready: %w", err)
			}
			if err := r.Free(); !errors.Is(err, ErrRequest) {
				return fmt.Errorf("Free of an active one: %w", err)
			}
			if err := r.Cancel(); !errors.Is(err, ErrRequest) {
				return fmt.Errorf("Cancel: %w", err)
			}
			if err := c.Barrier(); err != nil {
				return err
			}
			if _, err := r.Wait(); err != nil {
				return err
			}
			for i, x := range buf {
				if x != i+1 {
					return fmt.Errorf("partition %d is %d", i, x)
				}
			}
			return nil
		}
		r, err := PsendInit(c, buf, parts, 1, 0)
		if err := errors.Join(err, c.Barrier(), r.Start()); err != nil {
			return err
		}
		var wait sync.WaitGroup
		for i := range parts {
			wait.Go(func() {
				buf[i] = i + 1
				if err := r.Pready(i); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		_, err = r.Wait()
		return err
	})
}

// TestPartitionedMeet: sends and receives of one tag meet in the order in which they are made, and others do not; nor
// do they meet other messages (4.2.1).
func TestPartitionedMeet(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		dup, err := c.Dup()
		if err != nil {
			return err
		}
		comms, tags := []*Comm{c, c, c, dup}, []int{7, 7, 8, 7}
		rs, buf := make([]Request, 4), []int{-1, -1, -1, -1}
		for i := range rs {
			k := i
			if c.Rank() == 1 {
				k = []int{3, 2, 0, 1}[i] // the order of one tag stays
				rs[k], err = PrecvInit(comms[k], buf[k:k+1], 1, 0, tags[k])
			} else {
				buf[k] = 10 + k
				rs[k], err = PsendInit(comms[k], buf[k:k+1], 1, 1, tags[k])
			}
			if err != nil {
				return err
			}
		}
		if err := StartAll(rs); err != nil {
			return err
		}
		if _, ok, err := c.Iprobe(AnySource, AnyTag); ok || err != nil {
			return fmt.Errorf("a probe finds it: %w", err)
		}
		for i := range rs {
			if err := rs[3-i].PreadyRange(0, 0); c.Rank() == 0 && err != nil || c.Rank() == 1 && !errors.Is(err, ErrRequest) {
				return fmt.Errorf("ready: %w", err)
			}
		}
		if err := Waitall(rs, nil); err != nil {
			return err
		}
		for i, x := range buf {
			if x != 10+i {
				return fmt.Errorf("%d holds %d", i, x)
			}
		}
		return dup.Free()
	})
}

// TestPartitionedErrors has wrong arguments, messages that are too long or shorter, and the null process.
func TestPartitionedErrors(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		buf := make([]int, 6)
		other := 1 - c.Rank()
		_, e1 := PsendInit(c, buf[:1], 3, other, 0)
		_, e2 := PrecvInit(c, buf, 2, AnySource, 0)
		_, e3 := PrecvInit(c, buf, 2, other, AnyTag)
		_, e4 := PsendInit(c, buf, -1, other, 0)
		if !errors.Is(e1, ErrArgument) || !errors.Is(e2, ErrRank) || !errors.Is(e3, ErrTag) || !errors.Is(e4, ErrArgument) {
			return fmt.Errorf("%w, %w, %w, %w", e1, e2, e3, e4)
		}
		null, err := PsendInit(c, buf, 3, ProcNull, 0)
		if err := errors.Join(err, null.Pready(0)); !errors.Is(err, ErrRequest) {
			return fmt.Errorf("not started: %w", err)
		}
		if err := errors.Join(err, null.Start()); err != nil {
			return err
		}
		if err := null.Pready(3); !errors.Is(err, ErrArgument) {
			return fmt.Errorf("partition 3 of 3: %w", err)
		}
		if err := null.PreadyList([]int{2, 0, 1}); err != nil {
			return err
		}
		from, err := PrecvInit(c, buf, 3, ProcNull, 0)
		if err := errors.Join(err, from.Start()); err != nil {
			return err
		}
		if st, err := from.Wait(); err != nil || st.Source != ProcNull {
			return fmt.Errorf("from the null process: %+v, %w", st, err)
		}
		if _, err := null.Wait(); err != nil {
			return err
		}
		for _, room := range []int{2, 6} { // the message has 4
			if c.Rank() == 0 {
				r, err := PsendInit(c, buf[:4], 2, 1, 1)
				if err := errors.Join(err, r.Start(), r.PreadyRange(0, 1)); err != nil {
					return err
				}
				if _, err := r.Wait(); err != nil {
					return err
				}
				continue
			}
			r, err := PrecvInit(c, buf[:room], 2, 0, 1)
			if err := errors.Join(err, r.Start()); err != nil {
				return err
			}
			if _, err := r.Parrived(2); !errors.Is(err, ErrArgument) {
				return fmt.Errorf("partition 2 of 2: %w", err)
			}
			st, err := r.Wait()
			if (room == 2) != errors.Is(err, ErrTruncate) || room == 6 && (err != nil || st.Bytes() != 32) {
				return fmt.Errorf("room for %d: %+v, %w", room, st, err)
			}
		}
		return nil
	})
}

// TestParrivedOfNothing: a partition without elements has not come before the sender has started.
func TestParrivedOfNothing(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		r, err := PrecvInit(c, []int64{}, 2, 0, 3)
		if err != nil {
			return err
		}
		s, err := PsendInit(c, []int64{}, 2, 0, 3)
		if err != nil {
			return err
		}
		for range 2 {
			if err := r.Start(); err != nil {
				return err
			}
			for range 4 { // the announcement comes meanwhile
				if here, err := r.Parrived(0); here || err != nil {
					return fmt.Errorf("before the sender has started: %v (%w)", here, err)
				}
			}
			if err := errors.Join(s.Start(), s.Pready(0), s.Pready(1)); err != nil {
				return err
			}
			for i := range 2 {
				for here := false; !here; {
					if here, err = r.Parrived(i); err != nil {
						return err
					}
				}
			}
			_, a := r.Wait()
			_, b := s.Wait()
			if err := errors.Join(a, b); err != nil {
				return err
			}
		}
		return errors.Join(r.Free(), s.Free())
	})
}
