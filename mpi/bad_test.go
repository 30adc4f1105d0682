package mpi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

type pointer struct {
	A int
	P *int
}

// bad is a call with bad arguments and the error it must give.
type bad struct {
	name string
	want error
	call func(c *Comm) error
}

func second[T any](_ T, err error) error        { return err }
func third[T, U any](_ T, _ U, err error) error { return err }

// one is a buffer to receive into.
func one() []int { return []int{0} }

var badCalls = []bad{
	{"Send to a rank too large", ErrRank, func(c *Comm) error { return Send(c, one(), 2, 0) }},
	{"Send to a negative rank", ErrRank, func(c *Comm) error { return Send(c, one(), -7, 0) }},
	{"Send to any rank", ErrRank, func(c *Comm) error { return Send(c, one(), AnySource, 0) }},
	{"Send with a negative tag", ErrTag, func(c *Comm) error { return Send(c, one(), 0, -3) }},
	{"Send with any tag", ErrTag, func(c *Comm) error { return Send(c, one(), 0, AnyTag) }},
	{"Send with a tag too large", ErrTag, func(c *Comm) error { return Send(c, one(), 0, TagUB+1) }},
	{"Send to the null process with a bad tag", ErrTag, func(c *Comm) error { return Send(c, one(), ProcNull, -3) }},
	{"Send on no communicator", ErrComm, func(*Comm) error { return Send(nil, one(), 0, 0) }},
	{"Send on a zero communicator", ErrComm, func(*Comm) error { return Send(new(Comm), one(), 0, 0) }},
	{"Send of strings", ErrType, func(c *Comm) error { return Send(c, []string{"a"}, 0, 0) }},
	{"Send of pointers", ErrType, func(c *Comm) error { return Send(c, []*int{nil}, 0, 0) }},
	{"Send of a struct with a pointer", ErrType, func(c *Comm) error { return Send(c, []pointer{{}}, 0, 0) }},
	{"Send of slices to the null process", ErrType, func(c *Comm) error { return Send(c, [][]int{{1}}, ProcNull, 0) }},
	{"Send of interfaces", ErrType, func(c *Comm) error { return Send(c, []any{1}, 0, 0) }},
	{"Send of maps", ErrType, func(c *Comm) error { return Send(c, []map[int]int{{}}, 0, 0) }},
	{"Send of channels in arrays", ErrType, func(c *Comm) error { return Send(c, [][2]chan int{{}}, 0, 0) }},
	{"Send of functions", ErrType, func(c *Comm) error { return Send(c, []func(){nil}, 0, 0) }},
	{"Ssend to a rank too large", ErrRank, func(c *Comm) error { return Ssend(c, one(), 2, 0) }},
	{"Ssend of strings", ErrType, func(c *Comm) error { return Ssend(c, []string{"a"}, 0, 0) }},
	{"Rsend to a rank too large", ErrRank, func(c *Comm) error { return Rsend(c, one(), 2, 0) }},
	{"Rsend of strings", ErrType, func(c *Comm) error { return Rsend(c, []string{"a"}, 0, 0) }},
	{"Irsend with a bad tag", ErrTag, func(c *Comm) error { return second(Irsend(c, one(), 0, -5)) }},
	{"Irsend on no communicator", ErrComm, func(*Comm) error { return second(Irsend(nil, one(), 0, 0)) }},
	{"Isend to a rank too large", ErrRank, func(c *Comm) error { return second(Isend(c, one(), 2, 0)) }},
	{"Isend with a bad tag", ErrTag, func(c *Comm) error { return second(Isend(c, one(), 0, -5)) }},
	{"Issend to a negative rank", ErrRank, func(c *Comm) error { return second(Issend(c, one(), -9, 0)) }},
	{"Recv from a rank too large", ErrRank, func(c *Comm) error { return second(Recv(c, one(), 2, 0)) }},
	{"Recv from an undefined rank", ErrRank, func(c *Comm) error { return second(Recv(c, one(), Undefined, 0)) }},
	{"Recv with a bad tag", ErrTag, func(c *Comm) error { return second(Recv(c, one(), 0, -5)) }},
	{"Recv with a tag too large", ErrTag, func(c *Comm) error { return second(Recv(c, one(), AnySource, TagUB+1)) }},
	{"Recv of strings", ErrType, func(c *Comm) error { return second(Recv(c, []string{""}, 0, 0)) }},
	{"Recv on no communicator", ErrComm, func(*Comm) error { return second(Recv(nil, one(), 0, 0)) }},
	{"Irecv from a rank too large", ErrRank, func(c *Comm) error { return second(Irecv(c, one(), 99, 0)) }},
	{"Irecv with a bad tag", ErrTag, func(c *Comm) error { return second(Irecv(c, one(), 0, -9)) }},
	{"RecvAlloc from a bad rank", ErrRank, func(c *Comm) error { return third(RecvAlloc[int](c, 2, 0)) }},
	{"RecvAlloc of strings", ErrType, func(c *Comm) error { return third(RecvAlloc[string](c, 0, 0)) }},
	{"RecvValue with a bad tag", ErrTag, func(c *Comm) error { return third(RecvValue[string](c, 0, -5)) }},
	{"SendValue to a bad rank", ErrRank, func(c *Comm) error { return SendValue(c, "a", 2, 0) }},
	{"SendValue of a function", ErrType, func(c *Comm) error { return SendValue(c, func() {}, 0, 0) }},
	{"SendValue of a nil pointer", ErrType, func(c *Comm) error { return SendValue[*int](c, nil, 0, 0) }},
	{"Sendrecv to a bad rank", ErrRank, func(c *Comm) error { return second(Sendrecv(c, one(), 2, 0, one(), 0, 0)) }},
	{"Sendrecv from a bad rank", ErrRank, func(c *Comm) error { return second(Sendrecv(c, one(), 0, 0, one(), 2, 0)) }},
	{"Sendrecv on no communicator", ErrComm, func(*Comm) error { return second(Sendrecv(nil, one(), 0, 0, one(), 0, 0)) }},
	{"Sendrecv in one buffer", ErrBuffer, func(c *Comm) error {
		b := []int{1, 2}
		return second(Sendrecv(c, b, 0, 0, b[1:], 0, 0))
	}},
	{"SendrecvReplace to a bad rank", ErrRank, func(c *Comm) error { return second(SendrecvReplace(c, one(), 2, 0, 0, 0)) }},
	{"SendrecvReplace with any tag to send", ErrTag, func(c *Comm) error {
		return second(SendrecvReplace(c, one(), 0, AnyTag, 0, 0))
	}},
	{"SendrecvReplace of strings", ErrType, func(c *Comm) error {
		return second(SendrecvReplace(c, []string{""}, 0, 0, 0, 0))
	}},
	{"SendrecvReplace on no communicator", ErrComm, func(*Comm) error {
		return second(SendrecvReplace(nil, one(), 0, 0, 0, 0))
	}},
	{"SendInit to a bad rank", ErrRank, func(c *Comm) error { return second(SendInit(c, one(), 2, 0)) }},
	{"SsendInit of strings", ErrType, func(c *Comm) error { return second(SsendInit(c, []string{""}, 0, 0)) }},
	{"RsendInit with any tag", ErrTag, func(c *Comm) error { return second(RsendInit(c, one(), 0, AnyTag)) }},
	{"RecvInit from a bad rank", ErrRank, func(c *Comm) error { return second(RecvInit(c, one(), 2, 0)) }},
	{"RecvInit on no communicator", ErrComm, func(*Comm) error { return second(RecvInit(nil, one(), 0, 0)) }},
	{"Probe of a bad rank", ErrRank, func(c *Comm) error { return second(c.Probe(2, 0)) }},
	{"Iprobe of a bad tag", ErrTag, func(c *Comm) error { return third(c.Iprobe(0, -5)) }},
	{"Mprobe on no communicator", ErrComm, func(*Comm) error { return second((*Comm)(nil).Mprobe(0, 0)) }},
	{"Improbe of a bad rank", ErrRank, func(c *Comm) error { return second(c.Improbe(-9, 0)) }},
	{"Mrecv of no message", ErrRequest, func(*Comm) error { return second(Mrecv(nil, one())) }},
	{"Imrecv of a zero message", ErrRequest, func(*Comm) error { return second(Imrecv(new(Message), one())) }},
	{"Waitall with too few statuses", ErrCount, func(*Comm) error { return Waitall(make([]Request, 2), make([]Status, 1)) }},
	{"Testall with too many statuses", ErrCount, func(*Comm) error { return second(Testall(nil, make([]Status, 1))) }},
	{"Count of strings", ErrType, func(*Comm) error { return second(Count[string](Status{})) }},
	{"Count that is not whole", ErrCount, func(*Comm) error { return second(Count[int](Status{bytes: 9})) }},
	{"Cancel of nothing", ErrRequest, func(*Comm) error { return (*Request)(nil).Cancel() }},
	{"Barrier on no communicator", ErrComm, func(*Comm) error { return (*Comm)(nil).Barrier() }},
	{"Dup of no communicator", ErrComm, func(*Comm) error { return second((*Comm)(nil).Dup()) }},
	{"Split of no communicator", ErrComm, func(*Comm) error { return second((*Comm)(nil).Split(0, 0)) }},
	{"Free of the world", ErrComm, func(c *Comm) error { return c.Free() }},
	{"Free of self", ErrComm, func(c *Comm) error { return c.Proc().Self().Free() }},
	{"WorldRank of a bad rank", ErrRank, func(c *Comm) error { return second(c.WorldRank(2)) }},
	{"Go without a function", ErrArgument, func(c *Comm) error { return second(c.Proc().Go(nil)) }},
	{"Finalize in a thread", ErrThread, func(c *Comm) error {
		return inThread(c, func() error { return c.Proc().Finalize() })
	}},
	{"Run of no ranks", ErrArgument, func(*Comm) error { return Run(0, func(*Comm) error { return nil }) }},
	{"Run of nothing", ErrArgument, func(*Comm) error { return Run(1, nil) }},
	{"Run with a nil option", ErrArgument, func(*Comm) error { return Run(1, func(*Comm) error { return nil }, nil) }},
	{"Run with a setting out of range", ErrArgument, func(*Comm) error {
		return Run(1, func(*Comm) error { return nil }, WithThreads(-1))
	}},
	{"Run with an unknown server", ErrArgument, func(*Comm) error {
		return Run(1, func(*Comm) error { return nil }, WithServer("nobody"))
	}},
	{"Run with an unknown setting", ErrArgument, func(*Comm) error {
		return Run(1, func(*Comm) error { return nil }, With("GOLCI_NONE", "1"))
	}},
	{"RecvContext that is over", context.Canceled, func(c *Comm) error {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return second(RecvContext(ctx, c, one(), 0, 0))
	}},
}

// badCollectives are bad arguments of collectives.
var badCollectives = []bad{
	{"Bcast from a bad root", ErrRoot, func(c *Comm) error { return Bcast(c, one(), 2) }},
	{"Bcast of strings", ErrType, func(c *Comm) error { return Bcast(c, []string{""}, 0) }},
	{"Reduce to a negative root", ErrRoot, func(c *Comm) error { return Reduce(c, one(), one(), Sum, -1) }},
	{"Reduce without an operation", ErrOp, func(c *Comm) error { return Reduce(c, one(), one(), nil, 0) }},
	{"Allreduce with a nil function", ErrOp, func(c *Comm) error { return Allreduce(c, one(), one(), Func[int](nil).Commutative()) }},
	{"Allreduce into a short buffer", ErrCount, func(c *Comm) error { return Allreduce(c, one(), nil, Sum) }},
	{"Allreduce into an overlapping buffer", ErrBuffer, func(c *Comm) error {
		b := []int{1, 2, 3}
		return Allreduce(c, b[:2], b[1:], Sum)
	}},
	{"Gather to a bad root", ErrRoot, func(c *Comm) error { return Gather(c, one(), one(), 7) }},
	{"Scatter of strings", ErrType, func(c *Comm) error { return Scatter(c, []string{}, []string{}, 0) }},
	{"Gatherv to a bad root", ErrRoot, func(c *Comm) error { return Gatherv(c, one(), one(), nil, nil, 2) }},
	{"Scatterv from a bad root", ErrRoot, func(c *Comm) error { return Scatterv(c, one(), nil, nil, one(), 2) }},
	{"Allgather into a short buffer", ErrCount, func(c *Comm) error { return Allgather(c, one(), one()) }},
	{"Allgatherv with too few counts", ErrCount, func(c *Comm) error { return Allgatherv(c, one(), one(), []int{1}, nil) }},
	{"Allgatherv with a negative count", ErrCount, func(c *Comm) error {
		return Allgatherv(c, one(), make([]int, 4), []int{-1, 1}, nil)
	}},
	{"Allgatherv beyond the buffer", ErrCount, func(c *Comm) error {
		return Allgatherv(c, one(), make([]int, 2), []int{1, 1}, []int{0, 2})
	}},
	{"Allgatherv with a displacement that wraps", ErrCount, func(c *Comm) error {
		return Allgatherv(c, one(), make([]int, 2), []int{1, 1}, []int{0, 1<<63 - 1})
	}},
	{"Allgatherv with overlapping parts", ErrBuffer, func(c *Comm) error {
		return Allgatherv(c, one(), make([]int, 4), []int{2, 2}, []int{0, 1})
	}},
	{"Scan without an operation", ErrOp, func(c *Comm) error { return Scan(c, one(), one(), nil) }},
	{"Scan into a short buffer", ErrCount, func(c *Comm) error { return Scan(c, one(), nil, Sum) }},
	{"Scan of strings", ErrType, func(c *Comm) error {
		return Scan(c, []string{""}, []string{""}, Func(func(a, _ string) string { return a }))
	}},
	{"Iscan in one buffer", ErrBuffer, func(c *Comm) error { b := one(); return second(Iscan(c, b, b, Sum)) }},
	{"Exscan without an operation", ErrOp, func(c *Comm) error { return Exscan(c, one(), one(), nil) }},
	{"Iexscan without an operation", ErrOp, func(c *Comm) error { return second(Iexscan(c, one(), one(), nil)) }},
	{"ReduceScatterBlock without an operation", ErrOp, func(c *Comm) error {
		return ReduceScatterBlock(c, make([]int, 2), one(), nil)
	}},
	{"ReduceScatterBlock of a short buffer", ErrCount, func(c *Comm) error { return ReduceScatterBlock(c, one(), one(), Sum) }},
	{"ReduceScatterBlock in one buffer", ErrBuffer, func(c *Comm) error {
		b := make([]int, 2)
		return ReduceScatterBlock(c, b, b[1:], Sum)
	}},
	{"ReduceScatter of a short buffer", ErrCount, func(c *Comm) error {
		return ReduceScatter(c, one(), one(), []int{1, 1}, Sum)
	}},
	{"ReduceScatter into a short buffer", ErrCount, func(c *Comm) error {
		return ReduceScatter(c, make([]int, 3), one(), []int{2, 1}, Sum)
	}},
	{"ReduceScatter with too few counts", ErrCount, func(c *Comm) error {
		return ReduceScatter(c, one(), one(), []int{1}, Sum)
	}},
	{"ReduceScatter with a negative count", ErrCount, func(c *Comm) error {
		return ReduceScatter(c, make([]int, 4), one(), []int{1, -1}, Sum)
	}},
	{"IreduceScatter with counts that wrap", ErrCount, func(c *Comm) error {
		return second(IreduceScatter(c, make([]int, 4), one(), []int{1, 1<<63 - 1}, Sum))
	}},
	{"IreduceScatterBlock of a short buffer", ErrCount, func(c *Comm) error {
		return second(IreduceScatterBlock(c, one(), one(), Sum))
	}},
	{"Igatherv to a bad root", ErrRoot, func(c *Comm) error { return second(Igatherv(c, one(), one(), nil, nil, 2)) }},
	{"Iscatterv from a bad root", ErrRoot, func(c *Comm) error { return second(Iscatterv(c, one(), nil, nil, one(), 2)) }},
	{"Iallgatherv with too few counts", ErrCount, func(c *Comm) error {
		return second(Iallgatherv(c, one(), one(), []int{1}, nil))
	}},
	{"Ialltoallv with too few displacements", ErrCount, func(c *Comm) error {
		return second(Ialltoallv(c, one(), []int{0, 1}, []int{0}, one(), []int{0, 1}, nil))
	}},
	{"Alltoall that does not divide", ErrCount, func(c *Comm) error { return Alltoall(c, one(), one()) }},
	{"Alltoall in place", ErrBuffer, func(c *Comm) error {
		b := make([]int, 2)
		return Alltoall(c, b, b)
	}},
	{"Alltoallv with too few displacements", ErrCount, func(c *Comm) error {
		return Alltoallv(c, one(), []int{0, 1}, []int{0}, one(), []int{0, 1}, nil)
	}},
}

// TestBadArguments makes every bad call on rank 0 of two, from each kind of caller; each must give its typed error at
// once, and leave the communicator fit for use.
func TestBadArguments(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		if c.Rank() == 0 {
			for _, k := range callers {
				for _, b := range badCalls {
					if b.want == ErrThread && k.name == "thread" {
						continue
					}
					if err := k.run(c, func() error { return b.call(c) })(); !errors.Is(err, b.want) {
						return fmt.Errorf("%s: %s: got %v, want %v", k.name, b.name, err, b.want)
					}
				}
			}
		}
		return reduces(c, 1, 2, Sum)
	})
}

// TestBadCollectives makes every bad call of a collective, each on a communicator of its own, whose collectives it
// ends.
func TestBadCollectives(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		for _, b := range badCollectives {
			err := everyWayInTurn(c, func(d *Comm) error {
				if d.Rank() == 0 {
					return wants(b.want, b.call(d))
				}
				err := d.Barrier()
				return errors.Join(wants(ErrCollective, err), wants(b.want, err))
			})
			if err != nil {
				return fmt.Errorf("%s: %w", b.name, err)
			}
		}
		return reduces(c, 1, 2, Sum)
	})
}

// TestAfterFinalize: every call gives ErrFinalized, whatever its other arguments.
func TestAfterFinalize(t *testing.T) {
	calls := map[string]func(c *Comm) error{
		"Send":       func(c *Comm) error { return Send(c, one(), 0, 0) },
		"Send bad":   func(c *Comm) error { return Send(c, one(), 9, 0) },
		"Send null":  func(c *Comm) error { return Send(c, one(), ProcNull, 0) },
		"Ssend":      func(c *Comm) error { return Ssend(c, one(), 0, 0) },
		"Recv":       func(c *Comm) error { return second(Recv(c, one(), 0, 0)) },
		"Recv any":   func(c *Comm) error { return second(Recv(c, one(), AnySource, AnyTag)) },
		"Recv null":  func(c *Comm) error { return second(Recv(c, one(), ProcNull, AnyTag)) },
		"Isend":      func(c *Comm) error { return second(Isend(c, one(), 0, 0)) },
		"Irecv":      func(c *Comm) error { return second(Irecv(c, one(), 0, 0)) },
		"Irecv any":  func(c *Comm) error { return second(Irecv(c, one(), AnySource, 0)) },
		"Sendrecv":   func(c *Comm) error { return second(Sendrecv(c, one(), 0, 0, one(), 0, 0)) },
		"RecvAlloc":  func(c *Comm) error { return third(RecvAlloc[int](c, 0, 0)) },
		"SendValue":  func(c *Comm) error { return SendValue(c, 1, 0, 0) },
		"RecvValue":  func(c *Comm) error { return third(RecvValue[int](c, 0, 0)) },
		"Probe":      func(c *Comm) error { return second(c.Probe(0, 0)) },
		"Improbe":    func(c *Comm) error { return second(c.Improbe(0, 0)) },
		"Barrier":    func(c *Comm) error { return c.Barrier() },
		"Bcast":      func(c *Comm) error { return Bcast(c, one(), 0) },
		"Reduce":     func(c *Comm) error { return Reduce(c, one(), one(), Sum, 0) },
		"Allreduce":  func(c *Comm) error { return Allreduce(c, one(), one(), Sum) },
		"Gather":     func(c *Comm) error { return Gather(c, one(), one(), 0) },
		"Gatherv":    func(c *Comm) error { return Gatherv(c, one(), one(), []int{1}, nil, 0) },
		"Scatter":    func(c *Comm) error { return Scatter(c, one(), one(), 0) },
		"Scatterv":   func(c *Comm) error { return Scatterv(c, one(), []int{1}, nil, one(), 0) },
		"Allgather":  func(c *Comm) error { return Allgather(c, one(), one()) },
		"Allgatherv": func(c *Comm) error { return Allgatherv(c, one(), one(), []int{1}, nil) },
		"Alltoall":   func(c *Comm) error { return Alltoall(c, one(), one()) },
		"Alltoallv":  func(c *Comm) error { return Alltoallv(c, one(), []int{1}, nil, one(), []int{1}, nil) },
		"Scan":       func(c *Comm) error { return Scan(c, one(), one(), Sum) },
		"Iexscan":    func(c *Comm) error { return second(Iexscan(c, one(), one(), Sum)) },
		"Igatherv":   func(c *Comm) error { return second(Igatherv(c, one(), one(), []int{1}, nil, 0)) },
		"Dup":        func(c *Comm) error { return second(c.Dup()) },
		"Split":      func(c *Comm) error { return second(c.Split(0, 0)) },
		"Free":       func(c *Comm) error { return c.Free() },
		"Go":         func(c *Comm) error { return second(c.Proc().Go(func() {})) },
		"Finalize":   func(c *Comm) error { return c.Proc().Finalize() },
	}
	must(t, 1, func(c *Comm) error {
		d, err := c.Dup()
		if err != nil {
			return err
		}
		if err := c.Proc().Finalize(); err != nil {
			return err
		}
		var errs []error
		for name, call := range calls {
			for _, x := range []*Comm{c, d, c.Proc().Self()} {
				if err := call(x); !errors.Is(err, ErrFinalized) {
					errs = append(errs, fmt.Errorf("%s: %v", name, err))
				}
			}
		}
		return errors.Join(errs...)
	})
}

// TestAfterFree: every call on a communicator that was freed gives ErrComm.
func TestAfterFree(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		d, err := c.Dup()
		if err != nil {
			return err
		}
		if err := d.Free(); err != nil {
			return err
		}
		return errors.Join(
			wants(ErrComm, Send(d, one(), 0, 0)),
			wants(ErrComm, second(Recv(d, one(), 0, 0))),
			wants(ErrComm, second(Isend(d, one(), 0, 0))),
			wants(ErrComm, second(Irecv(d, one(), AnySource, 0))),
			wants(ErrComm, d.Barrier()),
			wants(ErrComm, second(d.Dup())),
			wants(ErrComm, d.Free()),
			wants(ErrComm, third(d.Iprobe(0, 0))),
		)
	})
}

// TestErrorTexts: what an error has to name is in its text, once it is known.
func TestErrorTexts(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		if c.Rank() == 1 {
			for range 3 {
				if err := Send(c, make([]int, 4), 0, 6); err != nil {
					return err
				}
			}
			return nil
		}
		m, err := c.Mprobe(1, 6)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		late, stop := context.WithTimeout(context.Background(), time.Millisecond)
		defer stop()
		var errs []error
		for _, x := range []struct {
			err  error
			text []string
		}{
			{Send(c, []string{"a"}, 1, 3), []string{"Send", "rank 0 of 2", "to rank 1", "tag 3", "string"}},
			{second(Recv(c, []pointer{{}}, AnySource, 3)), []string{"Recv", "from any rank", "tag 3", "field P"}},
			{Send(c, one(), AnySource, 3), []string{"AnySource"}},
			{second(Mrecv(m, one())), []string{"Mrecv", "32 bytes", "rank 1", "tag 6", "buffer of 8"}},
			{second(Sendrecv(c, one(), 0, 1, one(), 1, 6)), []string{"Sendrecv", "32 bytes", "rank 1", "tag 6", "buffer of 8"}},
			{second(Recv(c, one(), 1, AnyTag)), []string{"Recv", "32 bytes", "rank 1", "tag 6", "buffer of 8"}},
			{second(RecvContext(ctx, c, one(), 1, 7)), []string{"RecvContext", "rank 0 of 2", "from rank 1", "tag 7", "canceled"}},
			{SendContext(ctx, c, one(), 1, 7), []string{"SendContext", "rank 0 of 2", "to rank 1", "tag 7", "canceled"}},
			{second(RecvContext(late, c, one(), 1, 7)), []string{"RecvContext", "rank 0 of 2", "tag 7", "deadline"}},
		} {
			for _, want := range x.text {
				if x.err == nil || !strings.Contains(x.err.Error(), want) {
					errs = append(errs, fmt.Errorf("not told: %q in %w", want, x.err))
				}
			}
		}
		return errors.Join(append(errs, second(Recv(c, one(), 0, 1)))...)
	})
}

func wants(want, got error) error {
	if errors.Is(got, want) {
		return nil
	}
	return fmt.Errorf("got %v, want %v", got, want)
}

// wantsLength wants one of two errors: that of this rank, or that of the other one if its news comes first.
func wantsLength(err error) error {
	if errors.Is(err, ErrCount) {
		return nil
	}
	return wants(ErrTruncate, err)
}

// TestMismatchedCounts: ranks that disagree about a length are told, and do not hang.
func TestMismatchedCounts(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		if c.Rank() == 0 {
			return wantsLength(Bcast(c, []int{1, 2}, 0))
		}
		return wantsLength(Bcast(c, make([]int, 3), 0))
	})
	must(t, 2, func(c *Comm) error {
		if c.Rank() == 0 {
			return wantsLength(Bcast(c, []int{1, 2}, 0))
		}
		return wantsLength(Bcast(c, make([]int, 1), 0))
	})
}
