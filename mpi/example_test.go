package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi"
)

// The shortest program. Started by `golci run -n 4`, mpiexec, mpirun or srun it has that many ranks, alone it has one.
func ExampleInit() {
	p, err := mpi.Init()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	c := p.World()
	fmt.Printf("rank %d of %d\n", c.Rank(), c.Size())
	if err := p.Finalize(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	// Output: rank 0 of 1
}

// Several ranks in one process: for tests and examples.
func ExampleRun() {
	err := mpi.Run(4, func(c *mpi.Comm) error {
		sum := []int{0}
		if err := mpi.Allreduce(c, []int{c.Rank()}, sum, mpi.Sum); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println("sum of ranks:", sum[0])
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// sum of ranks: 6
	// <nil>
}

// Two ranks send a number to and fro.
func ExampleSend() {
	err := mpi.Run(2, func(c *mpi.Comm) error {
		ball, peer := []int{0}, 1-c.Rank()
		for ball[0] < 6 {
			if ball[0]%2 == c.Rank() {
				ball[0]++
				if err := mpi.Send(c, ball, peer, 0); err != nil {
					return err
				}
			}
			if ball[0] < 6 {
				if _, err := mpi.Recv(c, ball, peer, 0); err != nil {
					return err
				}
			}
		}
		if c.Rank() == 0 {
			fmt.Println("last ball:", ball[0])
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: last ball: 6
}

// A thousand light-weight threads of each rank exchange messages with their twins at the other rank; the tag tells
// them apart.
func ExampleProc_Go() {
	const threads = 1000
	var good atomic.Int64
	err := mpi.Run(2, func(c *mpi.Comm) error {
		hs := make([]fult.Handle, threads)
		for i := range hs {
			var err error
			hs[i], err = c.Proc().Go(func() {
				in := []int{0}
				_, err := mpi.Sendrecv(c, []int{i * i}, 1-c.Rank(), i, in, 1-c.Rank(), i)
				if err == nil && in[0] == i*i {
					good.Add(1)
				}
			})
			if err != nil {
				return err
			}
		}
		for _, h := range hs {
			if err := h.Join(); err != nil {
				return err
			}
		}
		return nil
	})
	fmt.Println(good.Load(), err)
	// Output: 2000 <nil>
}

// A light-weight thread gives its results to a goroutine through a channel. A plain send would hold up all threads of
// its worker.
func ExampleProc_Go_channel() {
	err := mpi.Run(1, func(c *mpi.Comm) error {
		squares := make(chan int)
		_, err := c.Proc().Go(func() {
			for i := range 4 {
				if err := fult.Send(nil, squares, i*i); err != nil {
					fmt.Println(err)
				}
			}
			close(squares)
		})
		if err != nil {
			return err
		}
		for s := range squares {
			fmt.Println(s)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// 0
	// 1
	// 4
	// 9
}

// Each rank runs a hundred threads, waits for them and has their errors.
func ExampleProc_Parallel() {
	err := mpi.Run(2, func(c *mpi.Comm) error {
		err := c.Proc().Parallel(100, func(i int) error {
			in := []int{0}
			if _, err := mpi.Sendrecv(c, []int{i}, 1-c.Rank(), i, in, 1-c.Rank(), i); err != nil {
				return err
			}
			if i == 42 && c.Rank() == 0 {
				return fmt.Errorf("%d is no good", in[0])
			}
			return nil
		})
		if c.Rank() == 0 {
			fmt.Println(err)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: thread 42: 42 is no good
}

// Rank 0 has a thread that answers requests of any rank. When all are served it is told to end, and waited for.
func ExampleRecvContext_server() {
	const request, reply = 1, 2
	serve := func(ctx context.Context, c *mpi.Comm) error {
		for {
			n := []int{0}
			st, err := mpi.RecvContext(ctx, c, n, mpi.AnySource, request)
			if errors.Is(err, context.Canceled) {
				return nil // told to end; no request is lost
			}
			if err != nil {
				return err
			}
			if err := mpi.Send(c, []int{n[0] * n[0]}, st.Source, reply); err != nil {
				return err
			}
		}
	}
	err := mpi.Run(3, func(c *mpi.Comm) error {
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		var served error
		var server fult.Handle
		if c.Rank() == 0 {
			var err error
			if server, err = c.Proc().Go(func() { served = serve(ctx, c) }); err != nil {
				return err
			}
		}
		answer := []int{0}
		if err := mpi.Send(c, []int{c.Rank() + 1}, 0, request); err != nil {
			return err
		}
		if _, err := mpi.Recv(c, answer, 0, reply); err != nil {
			return err
		}
		all := make([]int, c.Size())
		if err := mpi.Gather(c, answer, all, 0); err != nil { // rank 0 knows then that nobody asks any more
			return err
		}
		if c.Rank() != 0 {
			return nil
		}
		fmt.Println(all)
		stop()
		return errors.Join(server.Join(), served)
	})
	fmt.Println(err)
	// Output:
	// [1 4 9]
	// <nil>
}

// A receive that is given up after a while. The message either has been received then, or can be received later.
func ExampleRequest_WaitContext() {
	err := mpi.Run(1, func(c *mpi.Comm) error {
		buf := make([]byte, 8)
		r, err := mpi.Irecv(c, buf, mpi.AnySource, 0)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		_, err = r.WaitContext(ctx)
		fmt.Println(errors.Is(err, mpi.ErrCancelled), errors.Is(err, context.DeadlineExceeded))
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: true true
}

// A request in a select, beside a timer.
func ExampleRequest_Done() {
	err := mpi.Run(2, func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			return mpi.Send(c, []byte("hello"), 0, 3)
		}
		buf := make([]byte, 16)
		r, err := mpi.Irecv(c, buf, mpi.AnySource, 3)
		if err != nil {
			return err
		}
		select {
		case <-r.Done():
		case <-time.After(time.Minute):
			fmt.Println("nothing came")
			return r.Cancel()
		}
		st, err := r.Wait()
		if err != nil {
			return err
		}
		n, err := mpi.Count[byte](st)
		fmt.Printf("%s from rank %d\n", buf[:n], st.Source)
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: hello from rank 1
}

// Structs travel as they are, as long as they hold no pointers; other values go by SendValue.
func ExampleSendValue() {
	type particle struct {
		At   [3]float64
		Mass float32
	}
	err := mpi.Run(2, func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			if err := mpi.Send(c, []particle{{Mass: 2}, {At: [3]float64{1, 0, 0}}}, 0, 0); err != nil {
				return err
			}
			return mpi.SendValue(c, map[string][]int{"primes": {2, 3, 5}}, 0, 1)
		}
		ps, _, err := mpi.RecvAlloc[particle](c, 1, 0)
		if err != nil {
			return err
		}
		m, _, err := mpi.RecvValue[map[string][]int](c, 1, 1)
		fmt.Println(len(ps), ps[0].Mass, ps[1].At, m)
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 2 2 [1 0 0] map[primes:[2 3 5]]
}
