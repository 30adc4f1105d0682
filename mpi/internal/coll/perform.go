package coll

import (
	"unsafe"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/signature"
)

// A collective is a schedule: steps that send, receive, copy and combine bytes of the call's buffers. The functions
// that check the arguments of a call also choose the algorithm and build its schedule. This file carries it out.

func (x *Call) schedulePlace() schedule.Place { return schedule.Place{Rank: x.rank, Size: x.size} }

// perform carries out the call on the caller's stack.
func (x *Call) perform() (err error) {
	if x.alg.OverMemory() {
		return x.performShm()
	}
	return x.performSteps()
}

// performSteps carries out the schedule. In a short call each step is done as soon as it is started, so the position
// tells all. At the first step that is still under way drive takes over.
func (x *Call) performSteps() (err error) {
	var s *argument.Scratch
	if x.steps.Work|x.steps.Split > 0 {
		s = x.lay()
	}
	steps, waits := x.steps.Steps, false
	for i := range steps {
		waits = waits || steps[i].Kind == schedule.Recv
		var r comm.Req
		if r, err = x.startStep(&steps[i], i+1 == len(steps) || int(steps[i+1].After) > i); err != nil {
			break
		}
		if !r.Null() {
			err = x.drive(i, r)
			break
		}
	}
	if !waits { // a rank alone, or one that only sends
		x.st.Server.PollInTurn()
	}
	x.forgetBuffers()
	if s != nil {
		s.Release()
		x.scratch = nil
	}
	return err
}

// lay gives the call memory to work in, and cursors.
func (x *Call) lay() (s *argument.Scratch) {
	if n := x.steps.Split; cap(x.pairs) < n {
		x.pairs = make([]pair, 0, n)
	}
	x.buf[schedule.Work].mem, s = x.borrow(x.steps.Work)
	return s
}

// forgetBuffers lets go of the buffers of the call.
func (x *Call) forgetBuffers() {
	x.buf[schedule.In].mem, x.buf[schedule.Out].mem, x.buf[schedule.Work].mem = nil, nil, nil
	if len(x.pairs) > 0 {
		clear(x.pairs)
		x.pairs = x.pairs[:0]
	}
}

// drive carries out the rest of the schedule, from step i on, which is under way with request r. It starts steps, and
// waits where none can be started.
func (x *Call) drive(i int, r comm.Req) (err error) {
	x.beginRun(x.steps, i)
	x.run.Next()
	x.reqs[i] = r
	for err == nil && !x.run.Over() {
		st, i := x.run.Next()
		if st == nil {
			err = x.awaitStep(x.run.Pending(0))
			continue
		}
		if r, err = x.startStep(st, x.run.Stuck(i)); r.Null() {
			x.run.Done(i)
		} else {
			x.reqs[i] = r
		}
	}
	if err != nil {
		x.failAll(err) // before the wait for what is dropped
		x.dropAll()
	}
	return err
}

// beginRun begins a schedule at step i.
func (x *Call) beginRun(s *schedule.Schedule, i int) {
	if n := len(s.Steps); len(x.reqs) < n {
		x.reqs = make([]comm.Req, n)
	}
	x.run.Begin(s, i)
}

func (x *Call) bytesAt(m schedule.Mem, n int) []byte { return x.buf[m.Buf].mem[m.Off : m.Off+n] }

// startStep starts a step, and returns a null request if the step is done. needed says that no other step can be
// started before this one is done; start then waits for a receive.
func (x *Call) startStep(st *schedule.Step, needed bool) (comm.Req, error) {
	if st.Kind == schedule.Send && st.Tail > 0 {
		return x.sendPair(st)
	}
	b := x.bytesAt(st.At, st.Len)
	switch st.Kind {
	case schedule.Send:
		return x.isend(st, b)
	case schedule.Recv:
		if !needed {
			return x.irecv(st, b)
		}
		return comm.Req{}, x.recv(st, b)
	case schedule.Copy:
		copy(b, x.bytesAt(st.A, st.Len))
		return comm.Req{}, nil
	default:
		return comm.Req{}, x.combineInto(b, x.bytesAt(st.A, st.Len), x.bytesAt(st.B, st.Len))
	}
}

// awaitStep waits for step i.
func (x *Call) awaitStep(st *schedule.Step, i int) error {
	x.run.Done(i)
	return x.waitForStep(st, x.reqs[i])
}

// dropAll ends what is under way.
func (x *Call) dropAll() {
	for st, i := x.run.Pending(0); st != nil; st, i = x.run.Pending(i + 1) {
		x.dropReq(x.reqs[i])
		x.run.Done(i)
	}
}

// recv receives exactly b from a rank; it waits. A message that comes while it polls costs no more than in a plain
// receive, because the search for a reason starts only after that.
func (x *Call) recv(st *schedule.Step, b []byte) error {
	opt := x.recvOptions(st)
	peer := int(x.st.Peers[st.Peer])
	r, n, err := x.st.Server.TryRecvThenPost(x.st.Context, peer, x.tagOf(st), b, x.once, &opt, x.alarm)
	if !r.Null() {
		return x.waitForStep(st, r)
	}
	if err != nil || n != st.Len {
		return x.stepError(st, n, err)
	}
	return nil
}

// tagOf is the tag of a step's message, and recvOptions are those of its receive.
func (x *Call) tagOf(st *schedule.Step) int {
	if st.Last {
		return x.lastTag
	}
	return x.tag
}

func (x *Call) recvOptions(st *schedule.Step) comm.Options {
	opt := x.options
	opt.Alone = st.Alone
	return opt
}

func (x *Call) isend(st *schedule.Step, b []byte) (comm.Req, error) {
	opt := x.options
	opt.Signature = signature.OfBytes(b, opt.Signature)
	r, err := x.st.Server.Isend(x.st.Context, int(x.st.Peers[st.Peer]), x.tagOf(st), b, &opt)
	if err != nil {
		err = x.stepError(st, 0, err)
	}
	return r, err
}

func (x *Call) irecv(st *schedule.Step, b []byte) (comm.Req, error) {
	opt := x.recvOptions(st)
	r, err := x.st.Server.Irecv(x.st.Context, int(x.st.Peers[st.Peer]), x.tagOf(st), b, &opt)
	if err != nil {
		err = x.stepError(st, 0, err)
	}
	return r, err
}

// borrow gives the call n bytes of unknown content, until release. A call has one such piece at a time.
func (x *Call) borrow(n int) ([]byte, *argument.Scratch) {
	if n <= 8*argument.SmallScratch {
		return unsafe.Slice((*byte)(unsafe.Pointer(&x.small)), n), nil
	}
	b, s := argument.Borrow(n)
	x.scratch = s
	return b, s
}
