package mpitest

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/golci/golci/mpi"
)

// message is a message between two ranks of the world, and how it is sent and received.
type message struct {
	src, dst, tag, n int
	key              int // of its contents
	send, recv       int
	anyTag           bool
	part             mpi.Strided // at the receiver, for strided forms
}

// Forms of sending and receiving.
const (
	sendBlocking = iota
	sendSync
	sendBuffered
	sendStarted
	sendStartedSync
	sendPersistent
	sendStrided
	sendReady
	sendForms

	recvBlocking = iota - sendForms - 1
	recvStarted
	recvMatched
	recvMatchedTry
	recvProbed
	recvPersistent
	recvStrided
	recvForms
)

// messages executes messages in the order of the list. Both ends of one come to it when those before are under way, so
// that no two ranks wait for each other. Messages of one pair have few tags: the order matters.
func (a *actor) messages(s site, g *group, r *rand.Rand) error {
	switch r.IntN(3) {
	case 0:
		return messagesOf[uint8](s, g, r, 1)
	case 1:
		return messagesOf[int32](s, g, r, 4)
	}
	return messagesOf[int64](s, g, r, 8)
}

func messagesOf[T elem](s site, g *group, r *rand.Rand, size int) error {
	var last message
	for key := range 1 + r.IntN(8) {
		m := drawMessage(g, r, size)
		if key > 0 && r.IntN(2) == 0 {
			m.src, m.dst, m.tag = last.src, last.dst, last.tag
			if m.src == m.dst {
				m.send, m.recv = last.send, last.recv
			}
		}
		m.key, last = key, m
		if err := deliver[T](s, g, m); err != nil {
			return err
		}
	}
	return nil
}

func drawMessage(g *group, r *rand.Rand, size int) message {
	from, to := g.sides()
	if r.IntN(2) == 0 {
		from, to = to, from
	}
	m := message{
		src: from[r.IntN(len(from))], dst: to[r.IntN(len(to))], tag: r.IntN(3), n: length(r, size, 1<<20),
		send: r.IntN(sendForms), recv: r.IntN(recvForms), anyTag: r.IntN(6) == 0,
	}
	m.part = mpi.Strided{Count: m.n, Block: 1, Stride: 1 + r.IntN(3)}
	if m.src == m.dst { // what waits for the other end would wait for itself
		m.send, m.recv = sendStarted+r.IntN(3), recvStarted
		if m.send == sendStartedSync+1 {
			m.send = sendBuffered
		}
	}
	if m.send == sendReady {
		m.recv = recvStarted
	}
	return m
}

// deliver does this rank's part of a message.
func deliver[T elem](s site, g *group, m message) error {
	if s.a.me == m.src {
		if err := send[T](s, g, m); err != nil {
			return s.wrong(fmt.Sprintf("message %d to rank %d, form %d", m.key, m.dst, m.send), err)
		}
	}
	if s.a.me == m.dst {
		if err := recv[T](s, g, m); err != nil {
			return s.wrong(fmt.Sprintf("message %d from rank %d, form %d", m.key, m.src, m.recv), err)
		}
	}
	return nil
}

// readyTag is the tag of the message that tells of a posted receive.
const readyTag = 77

func send[T elem](s site, g *group, m message) error {
	c, dest, b := g.c, placeOf(g.sources(), m.dst), fill[T](s.step.Seed, m.key, m.n)
	sent := func(q mpi.Request, err error) error {
		if err == nil {
			s.a.later(s, q, func(mpi.Status) error {
				return same(s, "a sent buffer", b, fill[T](s.step.Seed, m.key, m.n))
			})
		}
		return err
	}
	switch m.send {
	case sendSync:
		return mpi.Ssend(c, b, dest, m.tag)
	case sendBuffered:
		err := c.AttachBuffer(nil)
		if err == nil {
			err = mpi.Bsend(c, b, dest, m.tag)
			clear(b)
			s.a.later(s, mpi.Request{}, func(mpi.Status) error {
				_, err := c.DetachBuffer()
				return err
			})
		} else if errors.Is(err, mpi.ErrBuffer) { // an earlier message has attached it
			err = mpi.Bsend(c, b, dest, m.tag)
			clear(b)
		}
		return err
	case sendStarted:
		return sent(mpi.Isend(c, b, dest, m.tag))
	case sendStartedSync:
		return sent(mpi.Issend(c, b, dest, m.tag))
	case sendPersistent:
		q, err := mpi.SendInit(c, b, dest, m.tag)
		if err == nil {
			err = q.Start()
		}
		if err == nil {
			_, err = q.Wait()
		}
		return errors.Join(err, q.Free())
	case sendStrided:
		wide := make([]T, m.n*2)
		for i, x := range b {
			wide[i*2] = x
		}
		return mpi.SendStrided(c, wide, mpi.Strided{Count: m.n, Block: 1, Stride: 2}, dest, m.tag)
	case sendReady:
		if _, err := mpi.Recv(c, []byte{}, dest, readyTag); err != nil {
			return err
		}
		return mpi.Rsend(c, b, dest, m.tag)
	}
	return mpi.Send(c, b, dest, m.tag)
}

func recv[T elem](s site, g *group, m message) error {
	c, from, tag := g.c, placeOf(g.sources(), m.src), m.tag
	if m.anyTag {
		tag = mpi.AnyTag
	}
	b := untouched[T](m.n + 3)
	got := func(st mpi.Status) error {
		if n, err := mpi.Count[T](st); err != nil || n != m.n || st.Source != from || st.Tag != m.tag {
			return fmt.Errorf("status %+v with %d elements, want source %d, tag %d, %d elements (%w)", st, n, from, m.tag,
				m.n, err)
		}
		return same(s, "message", b, append(fill[T](s.step.Seed, m.key, m.n), untouched[T](m.n + 3)[m.n:]...))
	}
	var st mpi.Status
	var err error
	switch m.recv {
	case recvStarted:
		q, err := mpi.Irecv(c, b, from, tag)
		if err == nil && m.send == sendReady {
			err = mpi.Send(c, []byte{}, from, readyTag)
		}
		s.a.later(s, q, got)
		return err
	case recvMatched, recvMatchedTry:
		return recvMessage(s, g, m, tag, b, got)
	case recvProbed:
		if st, err = c.Probe(from, tag); err == nil {
			st, err = mpi.Recv(c, b, st.Source, st.Tag)
		}
	case recvPersistent:
		q, e := mpi.RecvInit(c, b, from, tag)
		if err = e; err == nil {
			err = q.Start()
		}
		if err == nil {
			st, err = q.Wait()
		}
		err = errors.Join(err, q.Free())
	case recvStrided:
		return recvSpread[T](s, g, m, tag)
	default:
		st, err = mpi.Recv(c, b, from, tag)
	}
	if err != nil {
		return err
	}
	return got(st)
}

// recvMessage receives by a matched probe.
func recvMessage[T elem](s site, g *group, m message, tag int, b []T, got func(mpi.Status) error) error {
	from := placeOf(g.sources(), m.src)
	var msg *mpi.Message
	var err error
	if m.recv == recvMatched {
		msg, err = g.c.Mprobe(from, tag)
	} else {
		for msg == nil && err == nil {
			if msg, err = g.c.Improbe(from, tag); msg == nil {
				yield()
			}
		}
	}
	if err != nil {
		return err
	}
	q, err := mpi.Imrecv(msg, b)
	if err != nil {
		return err
	}
	s.a.later(s, q, got)
	return nil
}

// recvSpread receives into a part of a slice; what lies between stays.
func recvSpread[T elem](s site, g *group, m message, tag int) error {
	b, want := untouched[T](m.n*m.part.Stride+1), untouched[T](m.n*m.part.Stride+1)
	for i, x := range fill[T](s.step.Seed, m.key, m.n) {
		want[i*m.part.Stride] = x
	}
	if _, err := mpi.RecvStrided(g.c, b, m.part, placeOf(g.sources(), m.src), tag); err != nil {
		return err
	}
	return same(s, "strided message", b, want)
}

// gathering makes one rank receive a message of each from any source. Which arrives first is not determined; each
// arrives once.
func (a *actor) gathering(s site, g *group, r *rand.Rand) error {
	root, n, tag := r.IntN(len(g.local)), length(r, 8, 64<<10), 1000+s.at
	way := r.IntN(3)
	if g.index() != root {
		return s.wrong("Send", mpi.Send(g.c, fill[int64](s.step.Seed, a.me, n), root, tag))
	}
	seen := make(map[int]bool)
	for range len(g.local) - 1 {
		b := make([]int64, n)
		var st mpi.Status
		var err error
		switch way {
		case 0:
			st, err = mpi.Recv(g.c, b, mpi.AnySource, tag)
		case 1:
			var m *mpi.Message
			if m, err = g.c.Mprobe(mpi.AnySource, tag); err == nil {
				st, err = mpi.Mrecv(m, b)
			}
		default:
			if st, err = g.c.Probe(mpi.AnySource, tag); err == nil {
				st, err = mpi.Recv(g.c, b, st.Source, tag)
			}
		}
		if err == nil && (seen[st.Source] || st.Source == root) {
			err = fmt.Errorf("a second message of rank %d", st.Source)
		}
		if err != nil {
			return s.wrong("receive from any source", err)
		}
		seen[st.Source] = true
		if err := same(s, "message from any source", b, fill[int64](s.step.Seed, g.local[st.Source], n)); err != nil {
			return err
		}
	}
	return nil
}

// partitioned sends a buffer in partitions that become ready in a random order, twice.
func (a *actor) partitioned(s site, g *group, r *rand.Rand) error {
	m := drawMessage(g, r, 8)
	parts, others := 1+r.IntN(6), 1+r.IntN(6)
	m.n = m.n / (parts * others) * (parts * others)
	if m.src == m.dst {
		return nil
	}
	for round := range 2 {
		order := r.Perm(parts)
		var err error
		switch a.me {
		case m.src:
			err = sendParts(s, g, m, round, order)
		case m.dst:
			err = recvParts(s, g, m, round, others)
		}
		if err != nil {
			return s.wrong("partitioned", err)
		}
	}
	return nil
}

func sendParts(s site, g *group, m message, round int, order []int) error {
	b := fill[int64](s.step.Seed, round, m.n)
	q, err := mpi.PsendInit(g.c, b, len(order), placeOf(g.sources(), m.dst), m.tag)
	if err != nil {
		return err
	}
	err = q.Start()
	for _, i := range order {
		if err == nil {
			err = q.Pready(i)
		}
	}
	if err == nil {
		_, err = q.Wait()
	}
	return errors.Join(err, q.Free())
}

func recvParts(s site, g *group, m message, round, parts int) error {
	b := untouched[int64](m.n)
	q, err := mpi.PrecvInit(g.c, b, parts, placeOf(g.sources(), m.src), m.tag)
	if err != nil {
		return err
	}
	if err = q.Start(); err == nil {
		for done := false; !done && err == nil; {
			if done, err = q.Parrived(parts - 1); !done {
				yield()
			}
		}
	}
	if err == nil {
		at := m.n / parts * (parts - 1)
		err = same(s, "the last partition", b[at:], fill[int64](s.step.Seed, round, m.n)[at:])
	}
	if err == nil {
		_, err = q.Wait()
	}
	if err = errors.Join(err, q.Free()); err != nil {
		return err
	}
	return same(s, "partitioned message", b, fill[int64](s.step.Seed, round, m.n))
}
