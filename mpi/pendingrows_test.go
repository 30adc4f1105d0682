package mpi

import (
	"errors"
	"net"
)

// A pendingRow is a call that waits for ever on rank 1, because rank 0 makes none. Its communicator has these two ranks
// and is used by nothing else.
type pendingRow struct {
	name  string // of the exported function or method
	on    string // of what kind its communicator is: plain if empty
	call  func(c *Comm) error
	start func(c *Comm) (Request, error) // in the place of call: a request, which is then waited for
	shows string                         // what a dump calls it, if that is not the name
	// nowhere says that a dump names no communicator, or another one.
	nowhere bool
	// Why something does not end the call, by the column of the table. The comment of the function says so, too.
	except map[string]string
}

// Columns of the table.
const (
	byAbort  = "abort"
	byDeath  = "death"
	byRevoke = "revoke"
	byLimit  = "limit"  // of a view, or of WaitContext
	byFinal  = "final"  // Finalize counts it; for requests only
	inDump   = "dump"   // a dump names it
	allEnds  = "reason" // of calls that no column concerns
)

var (
	two   = []int{1, 1}
	ins   = func() []int { return make([]int, 2) }
	long  = func() []byte { return make([]byte, 1<<20) } // for which a send waits
	parts = func() []Part { return []Part{PartOf(ins()), PartOf(ins())} }
	add   = func(a, b int) int { return a + b }
)

// blocks is a row of a call that waits.
func blocks(name string, call func(c *Comm) error) pendingRow {
	return pendingRow{name: name, call: call}
}

// starts is a row of a call that gives a request.
func starts(name string, start func(c *Comm) (Request, error)) pendingRow {
	return pendingRow{name: name, start: start}
}

func (r pendingRow) as(shows string) pendingRow { r.shows = shows; return r }
func (r pendingRow) over(on string) pendingRow  { r.on = on; return r }
func (r pendingRow) bare() pendingRow           { r.nowhere = true; return r }

func (r pendingRow) not(column, reason string) pendingRow {
	all := map[string]string{column: reason}
	for k, v := range r.except {
		all[k] = v
	}
	r.except = all
	return r
}

// threeErr drops the results of a call.
func threeErr[T, U any](_ T, _ U, err error) error { return err }

const (
	outlives    = "agreements go on among the living, on revoked communicators too"
	failedLeave = "a message that fails leaves the buffer, too"
	ownComm     = "a window has a communicator of its own, which nothing revokes"
	noContext   = "a window is no view; its calls have no time limit"
)

// pointRows are calls of point to point communication.
func pointRows() []pendingRow {
	return []pendingRow{
		blocks("Recv", func(c *Comm) error { return second(Recv(c, ins(), 0, 1)) }),
		blocks("RecvAlloc", func(c *Comm) error { return threeErr(RecvAlloc[int](c, 0, 1)) }).as("Recv"),
		blocks("RecvContext", func(c *Comm) error {
			return second(RecvContext(limitOf(c), c, ins(), 0, 1))
		}).as("Recv"),
		blocks("RecvStrided", func(c *Comm) error {
			return second(RecvStrided(c, ins(), Strided{2, 1, 1}, 0, 1))
		}).as("Recv"),
		blocks("RecvTyped", func(c *Comm) error {
			d, err := TypeOf[int]()
			return errors.Join(err, second(RecvTyped(c, ins(), d, 2, 0, 1)))
		}).as("Recv"),
		blocks("RecvValue", func(c *Comm) error { return threeErr(RecvValue[string](c, 0, 1)) }).as("Recv"),
		starts("Irecv", func(c *Comm) (Request, error) { return Irecv(c, ins(), 0, 1) }),
		starts("IrecvStrided", func(c *Comm) (Request, error) {
			return IrecvStrided(c, ins(), Strided{2, 1, 1}, 0, 1)
		}).as("Irecv"),
		starts("IrecvTyped", func(c *Comm) (Request, error) {
			d, _ := TypeOf[int]()
			return IrecvTyped(c, ins(), d, 2, 0, 1)
		}).as("Irecv"),
		starts("RecvInit", func(c *Comm) (Request, error) { return startedNow(RecvInit(c, ins(), 0, 1)) }),
		blocks("Send", func(c *Comm) error { return Send(c, long(), 0, 1) }),
		blocks("SendContext", func(c *Comm) error { return SendContext(limitOf(c), c, long(), 0, 1) }).as("Send"),
		blocks("SendStrided", func(c *Comm) error {
			return SendStrided(c, long(), Strided{1 << 19, 1, 2}, 0, 1)
		}).as("Send"),
		blocks("SendTyped", func(c *Comm) error {
			d, err := TypeOf[byte]()
			return errors.Join(err, SendTyped(c, long(), d, 1<<20, 0, 1))
		}).as("Send"),
		blocks("SendValue", func(c *Comm) error { return SendValue(c, long(), 0, 1) }).as("Send"),
		blocks("Ssend", func(c *Comm) error { return Ssend(c, ins(), 0, 1) }),
		blocks("SsendValue", func(c *Comm) error { return SsendValue(c, 1, 0, 1) }).as("Ssend"),
		starts("Isend", func(c *Comm) (Request, error) { return Isend(c, long(), 0, 1) }),
		starts("IsendStrided", func(c *Comm) (Request, error) {
			return IsendStrided(c, long(), Strided{1 << 19, 1, 2}, 0, 1)
		}).as("Isend"),
		starts("IsendTyped", func(c *Comm) (Request, error) {
			d, _ := TypeOf[byte]()
			return IsendTyped(c, long(), d, 1<<20, 0, 1)
		}).as("Isend"),
		starts("IsendValue", func(c *Comm) (Request, error) { return IsendValue(c, long(), 0, 1) }).as("Isend"),
		starts("Issend", func(c *Comm) (Request, error) { return Issend(c, ins(), 0, 1) }),
		starts("SendInit", func(c *Comm) (Request, error) { return startedNow(SendInit(c, long(), 0, 1)) }),
		starts("SsendInit", func(c *Comm) (Request, error) { return startedNow(SsendInit(c, ins(), 0, 1)) }),
		blocks("Sendrecv", func(c *Comm) error { return second(Sendrecv(c, ins(), 0, 2, ins(), 0, 1)) }),
		blocks("SendrecvReplace", func(c *Comm) error {
			return second(SendrecvReplace(c, ins(), 0, 2, 0, 1))
		}).as("Sendrecv"),
		starts("Isendrecv", func(c *Comm) (Request, error) { return Isendrecv(c, ins(), 0, 2, ins(), 0, 1) }),
		starts("IsendrecvReplace", func(c *Comm) (Request, error) {
			return IsendrecvReplace(c, ins(), 0, 2, 0, 1)
		}).as("Isendrecv"),
		blocks("Comm.Probe", func(c *Comm) error { return second(c.Probe(0, 1)) }),
		blocks("Comm.Mprobe", func(c *Comm) error { return second(c.Mprobe(0, 1)) }),
		starts("Comm.FlushBuffer", func(c *Comm) (Request, error) {
			err := errors.Join(c.AttachBuffer(make([]byte, 2<<20)), Bsend(c, long(), 0, 1))
			q, other := c.FlushBuffer()
			return q, errors.Join(err, other)
		}).not(byDeath, failedLeave).not(byFinal, "the message counts"),
		blocks("Comm.DetachBuffer", func(c *Comm) error {
			err := errors.Join(c.AttachBuffer(make([]byte, 2<<20)), Bsend(c, long(), 0, 1))
			return errors.Join(err, second(c.DetachBuffer()))
		}).not(byDeath, failedLeave),
		starts("PrecvInit", func(c *Comm) (Request, error) { return startedNow(PrecvInit(c, ins(), 2, 0, 1)) }),
		starts("PsendInit", func(c *Comm) (Request, error) { return startedNow(PsendInit(c, ins(), 2, 0, 1)) }),
	}
}

// startedNow starts a persistent request.
func startedNow(q Request, err error) (Request, error) {
	if err == nil {
		err = q.Start()
	}
	return q, err
}

// makingRows are calls that make or end communicators and windows, or agree.
func makingRows() []pendingRow {
	const whole = "its messages belong to no communicator, so a revocation does not reach it"
	return []pendingRow{
		blocks("Comm.Dup", func(c *Comm) error { return second(c.Dup()) }),
		blocks("Comm.DupWith", func(c *Comm) error { return second(c.DupWith(Assert{ExactLength: true})) }),
		blocks("Comm.Split", func(c *Comm) error { return second(c.Split(0, 0)) }),
		blocks("Comm.SplitHardware", func(c *Comm) error { return second(c.SplitHardware(SharedMemory, 0)) }),
		blocks("Comm.SplitShared", func(c *Comm) error { return second(c.SplitShared(0)) }),
		blocks("Comm.SplitLevel", func(c *Comm) error { return threeErr(c.SplitLevel(0)) }),
		blocks("Comm.Create", func(c *Comm) error {
			g, err := c.Group()
			return errors.Join(err, second(c.Create(g)))
		}),
		blocks("Comm.CreateGroup", func(c *Comm) error {
			g, err := c.Group()
			return errors.Join(err, second(c.CreateGroup(g, 5)))
		}),
		blocks("Comm.CreateInter", func(c *Comm) error {
			// The own group has this rank alone; the other leader does not come.
			return second(c.Proc().Self().WithContext(limitOf(c)).CreateInter(0, c, 0, 7))
		}).bare().not(byRevoke, "it is a call on the communicator of this rank alone"),
		starts("Comm.Idup", func(c *Comm) (Request, error) { return thirdRequest(c.Idup()) }),
		blocks("Comm.Merge", func(c *Comm) error { return second(c.Merge(false)) }).over("inter"),
		blocks("Comm.CreateCart", func(c *Comm) error {
			return second(c.CreateCart([]int{2}, []bool{true}, true))
		}),
		blocks("Comm.SubCart", func(c *Comm) error { return second(c.SubCart(true)) }).over("ring"),
		blocks("Comm.CreateGraph", func(c *Comm) error {
			return second(c.CreateGraph([][]int{{1}, {0}}, true))
		}),
		blocks("Comm.CreateDistGraph", func(c *Comm) error {
			return second(c.CreateDistGraph([]Edge{{From: 0, To: 1}}, false))
		}),
		blocks("Comm.CreateDistGraphAdjacent", func(c *Comm) error {
			return second(c.CreateDistGraphAdjacent([]Neighbor{{Rank: 0}}, nil, false))
		}),
		blocks("Comm.Disconnect", func(c *Comm) error { return c.Disconnect() }),
		blocks("Comm.Agree", func(c *Comm) error {
			return second(c.Agree(1))
		}).not(byDeath, outlives).not(byRevoke, outlives),
		starts("Comm.Iagree", func(c *Comm) (Request, error) { return c.Iagree(new(uint64)) }).
			not(byDeath, outlives).not(byRevoke, outlives),
		blocks("Comm.Shrink", func(c *Comm) error {
			return second(c.Shrink())
		}).not(byDeath, outlives).not(byRevoke, outlives),
		starts("Comm.Ishrink", func(c *Comm) (Request, error) { return thirdRequest(c.Ishrink()) }).
			not(byDeath, outlives).not(byRevoke, outlives),
		blocks("Comm.Accept", func(c *Comm) error {
			// A group of this rank alone: nobody calls at its port.
			d, err := c.Proc().Self().Dup()
			if err != nil {
				return err
			}
			port, err := c.Proc().OpenPort()
			return errors.Join(err, second(d.WithContext(limitOf(c)).Accept(port, 0)))
		}).bare().not(byRevoke, "the port belongs to a communicator of this rank alone").
			not(byDeath, "the port belongs to a communicator of this rank alone"),
		blocks("Proc.CreateFromGroup", func(c *Comm) error {
			g, err := c.Group()
			return errors.Join(err, second(c.Proc().CreateFromGroup(g, c.Name())))
		}).bare().not(byRevoke, whole).not(byLimit, "it has no communicator, and so no view"),
		blocks("Session.CreateComm", func(c *Comm) error {
			s, err := c.Proc().OpenSession()
			if err != nil {
				return err
			}
			g, err := c.Group()
			return errors.Join(err, second(s.CreateComm(g, c.Name())))
		}).bare().as("CreateFromGroup").not(byRevoke, whole).not(byLimit, "it has no communicator, and so no view"),
		blocks("Proc.Join", func(c *Comm) error {
			a, b := net.Pipe()
			defer b.Close()
			defer a.Close()
			return second(c.Proc().Join(a))
		}).bare().not(byRevoke, whole).not(byDeath, "it waits for a connection, not for a rank").
			not(byLimit, "it has no communicator, and so no view; a deadline of the connection ends it"),
		starts("Proc.Grequest", func(c *Comm) (Request, error) { return c.Proc().Grequest(Grequest{}), nil }).bare().
			as("Grequest").not(byRevoke, "it belongs to no communicator").not(byDeath, "it waits for the program"),
		blocks("AllocateWin", func(c *Comm) error { return second(AllocateWin[int](c, 1)) }).as("Win_allocate"),
		blocks("AllocateSharedWin", func(c *Comm) error {
			return second(AllocateSharedWin[int](c, 1))
		}).as("Win_allocate_shared"),
		blocks("CreateWin", func(c *Comm) error { return second(CreateWin(c, ins())) }).as("Win_create"),
		blocks("NewDynamicWin", func(c *Comm) error { return second(NewDynamicWin[int](c)) }).as("Win_create_dynamic"),
	}
}

// windowRows are calls on a window that both ranks have made.
func windowRows() []pendingRow {
	win := func(name string, f func(w *Win[int]) error) pendingRow {
		return blocks("Win."+name, func(c *Comm) error { return f(windowOf(c)) }).over("win").as("Win_"+lowerFirst(name)).
			not(byLimit, noContext).not(byRevoke, ownComm)
	}
	return []pendingRow{
		win("Fence", func(w *Win[int]) error { return w.Fence(0) }),
		win("Lock", func(w *Win[int]) error { return w.Lock(LockExclusive, 0, 0) }),
		win("Locked", func(w *Win[int]) error { return w.Locked(LockExclusive, 0, nil) }).as("Win_lock"),
		win("LockAll", func(w *Win[int]) error { return w.LockAll(0) }).as("Win_lock_all"),
		win("Start", func(w *Win[int]) error { return w.Start([]int{0}, 0) }),
		win("Wait", func(w *Win[int]) error { return errors.Join(w.Post([]int{0}, 0), w.Wait()) }),
		win("Free", func(w *Win[int]) error { return w.Free() }),
	}
}

// thirdRequest drops the communicator of a call that gives it before it is made.
func thirdRequest(_ *Comm, q Request, err error) (Request, error) { return q, err }
