package mpi

import "errors"

// requestCalls look at requests that are done, or that no wait is for.
func requestCalls() []lonely {
	return []lonely{
		onDone("Test", func(r *Request) error { return third(r.Test()) }),
		onDone("GetStatus", func(r *Request) error { return third(r.GetStatus()) }),
		onDone("Testall", func(r *Request) error { return second(Testall([]Request{*r, *r}, nil)) }),
		onDone("Testany", func(r *Request) error { _, _, _, err := Testany([]Request{{}, *r}); return err }),
		onDone("Testsome", func(r *Request) error { return third(Testsome([]Request{*r, {}})) }),
		onInactive("Test", func(r *Request) error { return third(r.Test()) }),
		onInactive("GetStatus", func(r *Request) error { return third(r.GetStatus()) }),
		onInactive("Wait", func(r *Request) error { return second(r.Wait()) }),
		onInactive("Testall", func(r *Request) error { return second(Testall([]Request{*r}, nil)) }),
		onInactive("Testany", func(r *Request) error { _, _, _, err := Testany([]Request{*r}); return err }),
		onInactive("Testsome", func(r *Request) error { return third(Testsome([]Request{*r})) }),
		onInactive("Waitall", func(r *Request) error { return Waitall([]Request{*r}, nil) }),
		onInactive("Waitall, statuses", func(r *Request) error { return Waitall([]Request{*r}, make([]Status, 1)) }),
		onInactive("Waitany", func(r *Request) error { return third(Waitany([]Request{{}, *r})) }),
		onInactive("Waitsome", func(r *Request) error { return third(Waitsome([]Request{*r, {}})) }),
		simply("Irecv, Cancel, Wait", func(s *stage) error {
			r, err := Irecv(s.c, s.one, 1, 1)
			err = errors.Join(err, r.Cancel())
			if _, e := r.Wait(); !errors.Is(e, ErrCancelled) {
				err = errors.Join(err, e)
			}
			return err
		}),
		simply("Irecv, Cancel, Free", func(s *stage) error {
			r, err := Irecv(s.c, s.one, 1, 1)
			return errors.Join(err, r.Cancel(), r.Free())
		}),
		simply("Grequest, Complete, Wait", func(s *stage) error {
			r := s.c.Proc().Grequest(Grequest{})
			return errors.Join(r.Complete(), second(r.Wait()))
		}),
		{name: "Parrived", prepare: arrivedPartition},
	}
}

// onDone is a call of a request that is done and stays so.
func onDone(name string, call func(r *Request) error) lonely {
	return lonely{name: name + " of a request that is done", prepare: func(s *stage) (func() error, func() error, error) {
		done, err := Isend(s.c, s.one, ProcNull, 0)
		return func() error { r := done; return call(&r) }, noEnd, err
	}}
}

// onInactive is a call of a persistent request that has not been started.
func onInactive(name string, call func(r *Request) error) lonely {
	return lonely{name: name + " of an inactive request", prepare: func(s *stage) (func() error, func() error, error) {
		r, err := SendInit(s.c, s.one, 1, 0)
		return func() error { return call(&r) }, r.Free, err
	}}
}

// arrivedPartition is Parrived of a partition that is there.
func arrivedPartition(s *stage) (call, end func() error, err error) {
	self := s.c.Proc().Self()
	in, err := PrecvInit(self, s.two, 1, 0, 0)
	out, e := PsendInit(self, s.one, 1, 0, 0)
	err = errors.Join(err, e, in.Start(), out.Start(), out.Pready(0))
	for here := false; !here && err == nil; {
		here, err = in.Parrived(0)
	}
	end = func() error { return errors.Join(second(in.Wait()), second(out.Wait()), in.Free(), out.Free()) }
	return func() error { return second(in.Parrived(0)) }, end, err
}

// nullCalls have the null process as their peer.
func nullCalls() []lonely {
	return []lonely{
		simply("Send to nobody", func(s *stage) error { return Send(s.c, s.one, ProcNull, 0) }),
		simply("Ssend to nobody", func(s *stage) error { return Ssend(s.c, s.one, ProcNull, 0) }),
		simply("Bsend to nobody", func(s *stage) error { return Bsend(s.c, s.one, ProcNull, 0) }),
		simply("SendValue to nobody", func(s *stage) error { return SendValue(s.c, "x", ProcNull, 0) }),
		simply("Recv from nobody", func(s *stage) error { return second(Recv(s.c, s.one, ProcNull, 0)) }),
		simply("RecvAlloc from nobody", func(s *stage) error { return third(RecvAlloc[int](s.c, ProcNull, 0)) }),
		simply("RecvValue from nobody", func(s *stage) error { return third(RecvValue[string](s.c, ProcNull, 0)) }),
		simply("Sendrecv with nobody", func(s *stage) error {
			return second(Sendrecv(s.c, s.one, ProcNull, 0, s.two, ProcNull, 0))
		}),
		simply("Probe of nobody", func(s *stage) error { return second(s.c.Probe(ProcNull, 0)) }),
		simply("Iprobe of nobody", func(s *stage) error { return third(s.c.Iprobe(ProcNull, 0)) }),
		simply("Mprobe of nobody, Mrecv", func(s *stage) error {
			m, err := s.c.Mprobe(ProcNull, 0)
			return errors.Join(err, second(Mrecv(m, s.one)))
		}),
		simply("Isend to nobody, Wait", func(s *stage) error { return waited(Isend(s.c, s.one, ProcNull, 0)) }),
		simply("Irecv from nobody, Waitall", func(s *stage) error {
			r, err := Irecv(s.c, s.one, ProcNull, 0)
			return errors.Join(err, Waitall([]Request{r}, nil))
		}),
		simply("Issend to nobody, Waitany", func(s *stage) error {
			r, err := Issend(s.c, s.one, ProcNull, 0)
			return errors.Join(err, third(Waitany([]Request{r})))
		}),
		simply("Isendrecv with nobody, Wait", func(s *stage) error {
			return waited(Isendrecv(s.c, s.one, ProcNull, 0, s.two, ProcNull, 0))
		}),
		restarted("SendInit to nobody", func(s *stage) (Request, error) { return SendInit(s.c, s.one, ProcNull, 0) }),
		restarted("RecvInit from nobody", func(s *stage) (Request, error) { return RecvInit(s.c, s.one, ProcNull, 0) }),
		restarted("PrecvInit from nobody", func(s *stage) (Request, error) { return PrecvInit(s.c, s.one, 1, ProcNull, 0) }),
		restarted("BarrierInit of one rank", func(s *stage) (Request, error) { return s.c.Proc().Self().BarrierInit() }),
		restarted("AllreduceInit of one rank", func(s *stage) (Request, error) {
			return AllreduceInit(s.c.Proc().Self(), s.one, s.two, Sum)
		}),
	}
}

// restarted is a persistent request that is started and waited for.
func restarted(name string, f func(s *stage) (Request, error)) lonely {
	return lonely{name: name + ", Start, Wait", prepare: func(s *stage) (func() error, func() error, error) {
		r, err := f(s)
		return func() error { return errors.Join(r.Start(), second(r.Wait())) }, r.Free, err
	}}
}

// windowCalls are of windows, with the rank itself as the target.
func windowCalls() []lonely {
	all := []lonely{
		simply("Flush of mapped memory", func(s *stage) error { return s.mapped.Flush(0) }),
		simply("Flush of other memory", func(s *stage) error { return s.made.Flush(0) }),
		simply("FlushAll", func(s *stage) error { return s.mapped.FlushAll() }),
		simply("Win_sync", func(s *stage) error { return s.mapped.Sync() }),
		simply("Win_lock, Put, Win_unlock", func(s *stage) error {
			return errors.Join(s.closed.Lock(LockExclusive, 0, 0), s.closed.Put(s.one, 0, 0), s.closed.Unlock(0))
		}),
		simply("Win_post, Win_wait", func(s *stage) error { return errors.Join(s.closed.Post(nil, 0), s.closed.Wait()) }),
		simply("Win_start, Win_complete", func(s *stage) error {
			return errors.Join(s.closed.Start(nil, 0), s.closed.Complete())
		}),
	}
	kinds := map[string]func(s *stage) *Win[int64]{
		"mapped": func(s *stage) *Win[int64] { return s.mapped },
		"other":  func(s *stage) *Win[int64] { return s.made },
	}
	for _, kind := range []string{"mapped", "other"} {
		win := kinds[kind]
		requests := map[string]func(s *stage) (Request, error){
			"Rput":           func(s *stage) (Request, error) { return win(s).Rput(s.one, 0, 0) },
			"Rget":           func(s *stage) (Request, error) { return win(s).Rget(s.one, 0, 0) },
			"Raccumulate":    func(s *stage) (Request, error) { return win(s).Raccumulate(s.one, 0, 0, Sum) },
			"RgetAccumulate": func(s *stage) (Request, error) { return win(s).RgetAccumulate(s.one, s.two, 0, 0, Sum) },
		}
		for _, name := range []string{"Rput", "Rget", "Raccumulate", "RgetAccumulate"} {
			f := requests[name]
			all = append(all,
				simply(name+" of "+kind+" memory", func(s *stage) error { return second(f(s)) }),
				simply(name+" of "+kind+" memory, Wait", func(s *stage) error { return waited(f(s)) }),
				simply(name+" of "+kind+" memory, Test", func(s *stage) error { return tested(f(s)) }))
		}
	}
	return all
}

// selfCalls are collectives of one rank, or without neighbours.
func selfCalls() []lonely {
	on := func(name string, f func(c *Comm, s *stage) error) lonely {
		return simply(name+" of one rank", func(s *stage) error { return f(s.c.Proc().Self(), s) })
	}
	sending := simply("Bcast of two ranks", func(s *stage) error { return Bcast(s.c, s.one, 0) })
	sending.both = true
	ones, zeros := []int{1}, []int{0}
	return []lonely{
		sending,
		on("Barrier", func(c *Comm, _ *stage) error { return c.Barrier() }),
		on("Bcast", func(c *Comm, s *stage) error { return Bcast(c, s.one, 0) }),
		on("Gather", func(c *Comm, s *stage) error { return Gather(c, s.one, s.two, 0) }),
		on("Gatherv", func(c *Comm, s *stage) error { return Gatherv(c, s.one, s.two, ones, zeros, 0) }),
		on("Scatter", func(c *Comm, s *stage) error { return Scatter(c, s.one, s.two, 0) }),
		on("Allgather", func(c *Comm, s *stage) error { return Allgather(c, s.one, s.two) }),
		on("AllgathervAlloc", func(c *Comm, s *stage) error { return third(AllgathervAlloc(c, s.one)) }),
		on("Alltoall", func(c *Comm, s *stage) error { return Alltoall(c, s.one, s.two) }),
		on("Alltoallv", func(c *Comm, s *stage) error {
			return Alltoallv(c, s.one, ones, zeros, s.two, ones, zeros)
		}),
		on("Reduce", func(c *Comm, s *stage) error { return Reduce(c, s.one, s.two, Sum, 0) }),
		on("Allreduce", func(c *Comm, s *stage) error { return Allreduce(c, s.one, s.two, Sum) }),
		on("ReduceScatterBlock", func(c *Comm, s *stage) error { return ReduceScatterBlock(c, s.one, s.two, Sum) }),
		on("Scan", func(c *Comm, s *stage) error { return Scan(c, s.one, s.two, Sum) }),
		on("Exscan", func(c *Comm, s *stage) error { return Exscan(c, s.one, s.two, Sum) }),
		on("BcastValue", func(c *Comm, _ *stage) error { return second(BcastValue(c, "x", 0)) }),
		on("Ibarrier, Wait", func(c *Comm, _ *stage) error { return waited(c.Ibarrier()) }),
		on("Ibcast, Wait", func(c *Comm, s *stage) error { return waited(Ibcast(c, s.one, 0)) }),
		on("Iallreduce, Test", func(c *Comm, s *stage) error { return tested(Iallreduce(c, s.one, s.two, Sum)) }),
		on("Agree", func(c *Comm, _ *stage) error { return second(c.Agree(1)) }),
		on("GetFailed", func(c *Comm, _ *stage) error { return second(c.GetFailed()) }),
		on("Dup, Free", func(c *Comm, _ *stage) error { return freed(c.Dup()) }),
		on("Split, Free", func(c *Comm, _ *stage) error { return freed(c.Split(0, 0)) }),
		on("Shrink, Free", func(c *Comm, _ *stage) error { return freed(c.Shrink()) }),
		simply("NeighborAllgather without neighbours", func(s *stage) error {
			return NeighborAllgather(s.alone, s.one, nil)
		}),
		simply("IneighborAlltoall without neighbours, Wait", func(s *stage) error {
			return waited(IneighborAlltoall[int64](s.alone, nil, nil))
		}),
	}
}

func freed(c *Comm, err error) error {
	if err != nil {
		return err
	}
	return c.Free()
}
