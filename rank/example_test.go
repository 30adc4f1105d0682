package rank_test

import (
	"fmt"
	"sync/atomic"

	"github.com/golci/golci/am"
	"github.com/golci/golci/am/rma"
	"github.com/golci/golci/rank"
)

// Two ranks without MPI exchange an active message and its reply. In a program of its own each process calls rank.Start
// in the place of rank.Local and Team.Run, and Finalize at the end.
func Example() {
	const ask, answer = 1, 2 // handlers
	var answered atomic.Uint64
	attach := func(r *rank.Rank) error {
		return r.Attach(rank.Layer{Endpoint: am.Layer{Name: "example", First: ask, Handlers: []am.Spec{
			{Name: "ask", Run: func(t *am.Token, args []uint64, _ []byte) {
				_ = t.ReplyShort(answer, 2*args[0]) // ask has a reply by its declaration
			}},
			{Name: "answer", MaxReply: am.NoReply, Run: func(_ *am.Token, args []uint64, _ []byte) {
				answered.Store(args[0])
			}},
		}}})
	}
	team, err := rank.Local(2, rank.Config{Attach: attach})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = team.Run(func(r *rank.Rank) error {
		if r.Rank() == 1 {
			return nil // it answers in Finalize, which makes progress
		}
		if err := r.Endpoint().RequestShort(1, ask, 21); err != nil {
			return err
		}
		err := r.BlockUntil(func() bool { return answered.Load() != 0 })
		fmt.Println("rank 1 says", answered.Load())
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: rank 1 says 42
}

// Remote memory is a layer on a rank: it registers its handlers, and what ends its operations.
func Example_remoteMemory() {
	var mems [2]*rma.Memory
	attach := func(r *rank.Rank) (err error) {
		m, err := rma.New(r.Endpoint(), rma.Config{SegmentSize: 1 << 16})
		if err != nil {
			return err
		}
		mems[r.Rank()] = m
		return r.Attach(rank.Layer{Stop: m.Close})
	}
	team, err := rank.Local(2, rank.Config{Attach: attach})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = team.Run(func(r *rank.Rank) error {
		m := mems[r.Rank()]
		if r.Rank() == 0 {
			return m.PutNotify(1, 100, []byte("hello"), 0, 1)
		}
		err := m.WaitCounter(0, 1, 0)
		fmt.Printf("rank 1 has %q\n", m.Segment()[100:105])
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: rank 1 has "hello"
}
