package core

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"github.com/golci/golci/mpi/internal/notice"

	"github.com/golci/golci/mpi/internal/contextid"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/signature"
)

// FuzzNotices: rank 1 sends ranks 0 and 2 any notices. They end nothing but collectives of a communicator that it is a
// member of, with an error that names it. Communicators that it does not belong to go on, and so do messages.
func FuzzNotices(f *testing.F) {
	for kind := range byte(notice.Parts + 2) {
		for uid := range byte(4) {
			f.Add([]byte{
				kind, uid, 0, 1, 0, 1, 0, 1, 2, 3, 'B', 'a', 'd', kind, uid, 3, 63, 4, 0, 0, 0, 16, 1, 2, 3, 4,
				5, 6, 7,
			})
			f.Add([]byte{kind, uid, 4, 0, 0, 0, 0, 2, 0, 16, 2, 0, 0, 0, 0, 0, 0, 0, 200, 1, 0, 0, 0, 0, 0, 0})
		}
	}
	f.Add([]byte{notice.Parts, 0, 5, 3, 0, 0, 0, 9, 16, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{notice.Parts, 0, 5, 3, 0, 0, 0, 9, 16, 16})
	f.Add([]byte{notice.Parts, 0, 5, 3, 0, 0, 0, 9, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0, 64})
	f.Add([]byte{notice.Parts, 0, 5, 3, 0, 0, 0, 9, 16, 16, 3, 0, 0, 0, 0, 0, 0, 0, 64})
	f.Add([]byte{
		notice.Parts, 0, 5, 3, 0, 0, 0, 9, 16, 255, 255, 255, 127, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255,
		255, 63,
	})
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) > 300 {
			return
		}
		x := &gossip{program: program}
		err := job(3, func(c *Comm) error {
			err := x.rank(c)
			if err != nil {
				t.Error(err)
			}
			return err
		})
		if err != nil && !(x.hit && errors.Is(err, sentinel.ErrMismatch)) { // what Finalize alone tells
			t.Fatal(err)
		}
	})
}

// gossip is a job of three in which rank 1 sends any notices.
type gossip struct {
	program []byte    // rank 1 reads it
	uids    [4]uint64 // of all three ranks, of ranks 0 and 2, of each rank alone, and of none; rank 0 sets them
	hit     bool      // collectives of all may have ended; set by rank 1 before it calls what all call
}

// rank is the program of a rank. A panic in a poll would leave a lock taken. The end of the job would hang, and hide
// it.
func (x *gossip) rank(c *Comm) error {
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(os.Stderr, "panic: %v\n%s", v, debug.Stack())
			os.Exit(2)
		}
	}()
	all, err := c.Dup()
	if err != nil {
		return err
	}
	part, err := c.Split(c.Rank()%2, 0)
	if err != nil {
		return err
	}
	if c.Rank() == 0 {
		x.uids = [4]uint64{all.coll.UID, part.coll.UID, contextid.SelfUID, 1 << 63}
	}
	if c.Rank() == 1 {
		return x.send(c)
	}
	return x.hear(c, all, part)
}

// send is rank 1.
func (x *gossip) send(c *Comm) error {
	if err := c.Barrier(); err != nil {
		return err
	}
	for n := 0; len(x.program) > 0 && n < 40; n++ {
		args, text := x.notice()
		for _, r := range []int{0, 2} {
			c.Srv.Notify(r, args, text)
		}
	}
	for _, r := range []int{0, 2} {
		if err := c.Srv.Send(c.Ctx, r, 1, []byte("after"), nil); err != nil {
			return err
		}
	}
	return c.Barrier()
}

func (x *gossip) next() byte {
	if len(x.program) == 0 {
		return 0
	}
	b := x.program[0]
	x.program = x.program[1:]
	return b
}

// word is an argument.
func (x *gossip) word() uint64 {
	k := x.next()
	switch v := uint64(x.next()); k % 6 {
	case 0:
		return v
	case 1:
		return x.uids[v%4]
	case 2:
		return ^uint64(0) >> (v % 64)
	case 3:
		return v << (k / 6)
	case 4:
		return ^v
	default:
		return v<<32 | uint64(x.next())
	}
}

// notice is the next one. It does not say that the world, or what all share, is revoked: that it may.
func (x *gossip) notice() (args [4]uint64, text string) {
	kind, uid := uint64(x.next()%(notice.Parts+2)), x.uids[x.next()%4]
	switch kind {
	case notice.Failed, notice.Answer:
		x.hit = x.hit || uid == x.uids[0]
	case notice.Revoked:
		if uid == x.uids[0] {
			uid = x.uids[1]
		}
	case notice.Shm, notice.Ask, notice.Agree, notice.Window:
	default:
		if uid == x.uids[3] {
			uid = x.word()
		}
	}
	args = [4]uint64{uid, x.word(), x.word()<<32 | kind, x.word()}
	b := make([]byte, x.next()%40)
	for i := range b {
		b[i] = x.next()
	}
	return args, string(b)
}

// hear is ranks 0 and 2: part is of them alone.
func (x *gossip) hear(c, all, part *Comm) error {
	p := c.proc
	port, err := p.OpenPort()
	if err != nil {
		return err
	}
	b := make([]byte, 64+16)
	r, err := all.PrecvInit("PrecvInit", signature.ByteElem, b[:64:64], 2, 1, 3)
	if err == nil {
		err = r.Start("Start")
	}
	if err := errors.Join(err, c.Barrier()); err != nil {
		return err
	}
	var after [5]byte
	if _, err := c.Srv.Recv(c.Ctx, 1, 1, after[:], nil); err != nil || string(after[:]) != "after" {
		return fmt.Errorf("the message after the notices is %q: %w", after, err)
	}
	if err := errors.Join(sound(part), sound(p.Self()), c.Barrier()); err != nil {
		return err
	}
	if err := x.blames(all); err != nil {
		return err
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	// A send of nothing may have been announced. Nothing else can end the receive.
	if st, err := r.WaitContext(ended); !errors.Is(err, sentinel.ErrCancelled) && (err != nil || st.Bytes != 0) {
		return fmt.Errorf("a partitioned receive of which nothing has come ended with %+v, %v", st, err)
	}
	if string(b) != string(make([]byte, len(b))) {
		return fmt.Errorf("bytes have come: %v", b)
	}
	return errors.Join(r.Free(), p.ClosePort(port))
}

// blames: what has ended collectives of all names rank 1. Without a reason they have not ended.
func (x *gossip) blames(all *Comm) error {
	e := all.coll.Failure()
	if e != nil && (!x.hit || e.Rank != 1) {
		return fmt.Errorf("collectives have ended, by a failure of rank %d: %w", e.Rank, e)
	}
	return nil
}

// sound: communicator c, which rank 1 is no member of, works in each way.
func sound(c *Comm) error {
	if c.Revoked() {
		return errors.New("it has been revoked")
	}
	if err := c.Barrier(); err != nil {
		return err
	}
	flag := uint64(6 + c.Rank())
	got, err := c.Agree(flag)
	if want := uint64(6); err != nil || got != want {
		return fmt.Errorf("agreed on %d: %w", got, err)
	}
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], flag)
	to := (c.Rank() + 1) % c.Size()
	r, err := c.Srv.Irecv(c.Ctx, int(c.group[to]), 1, make([]byte, 8), nil)
	if err == nil {
		err = c.Srv.Send(c.Ctx, int(c.group[to]), 1, word[:], nil)
	}
	if err == nil {
		_, err = c.Srv.Wait(r)
	}
	return err
}
