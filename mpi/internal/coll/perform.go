package coll

import (
	"github.com/golci/golci/comm"
	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
)

// A collective is a schedule: steps that send, receive, copy and combine bytes of the call's buffers. The functions
// that check the arguments of a call also choose the algorithm and build its schedule. This file carries it out.

// contribution is what the schedule of a call depends on, beside its algorithm and root. It has few fields, so that the
// compiler holds it in registers: one that lies on the stack is written and read in pieces of different length, which
// costs more than the whole comparison.
type contribution struct {
	bytes   int
	elem    int // bytes of an element, if that matters
	inPlace bool
}

// planned is a schedule that is kept for calls of the same way and root, with the same contribution.
type planned struct {
	call  int // algorithm and root
	of    contribution
	steps schedule.Schedule
}

// plansKept is how many are kept, in the places of their algorithms.
const plansKept = 8

// plan takes the algorithm and the root of the call and sets its schedule. It reports whether that must be built.
func (x *Call) plan(w algorithm.Algorithm, root int, of contribution) bool {
	x.takeAlgorithm(w, root)
	x.bytes = of.bytes
	call, p := int(w)<<algorithm.TagShared|root, &x.plans[w%plansKept]
	x.steps = &p.steps
	if p.call == call && p.of == of {
		return false
	}
	p.call, p.of = call, of
	return true
}

// fresh gives a schedule to build that no other call has.
func (x *Call) fresh(w algorithm.Algorithm) *schedule.Schedule {
	p := &x.plans[w%plansKept]
	p.call, x.steps = -1, &p.steps
	return x.steps
}

func (x *Call) schedulePlace() schedule.Place { return schedule.Place{Rank: x.rank, Size: x.size} }

// Finish carries out the call, unless err is not nil, and ends it.
func (x *Call) Finish(err error) error {
	if err == nil {
		if err = x.settleCall(); err == nil {
			err = x.perform()
		}
	}
	if err == nil && x.stop == nil { // the usual case, without the call of end
		arch.StoreRel64(&x.st.state, x.call*2)
		return nil
	}
	return x.endCall(err)
}

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
	var s *scratch
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
		s.releaseScratch()
		x.scratch = nil
	}
	return err
}

// lay gives the call memory to work in, and cursors.
func (x *Call) lay() (s *scratch) {
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
