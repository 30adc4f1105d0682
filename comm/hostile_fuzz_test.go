package comm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/transport/local"
)

// FuzzHandlers: rank 1 sends rank 0 messages of the protocol with any arguments and bytes, and any pieces of bulk
// data. Rank 0 has operations with it, and with rank 2, which is sound. A malformed message is a fault that names
// rank 1. What rank 0 has with rank 2 goes on and is right. No operation changes memory beside its buffer. If there was
// no fault a message of rank 1 still arrives. All operations end.
func FuzzHandlers(f *testing.F) {
	for h := range byte(handlers + 1) {
		for n := range byte(10) { // each handler with each number of arguments
			f.Add([]byte{
				h % 2, actRecv, 1, 5, actSend, 1, 6, 1, actForge, h, n, 1, 3, 1, 2, 1, 0, 1, 1, 0, 5, 1, 2, 1,
				1, 1, 1, 1, 1, 9,
			})
			f.Add([]byte{
				h % 2, actForge, h, n, 4, 7, 4, 7, 4, 7, 4, 7, 4, 7, 4, 7, 4, 7, 4, 7, 4, 7, actRecv, 0, 3,
				actProbe, 1,
			})
		}
	}
	for _, far := range []byte{0, 1} { // numbers of operations that others have; pieces beside a buffer, and too many
		f.Add([]byte{far, actForge, 2, 3, 1, 1, 0, 0, 0, 1, 0, 0})
		f.Add([]byte{far, actForge, 5, 6, 1, 1, 0, 0, 0, 0, 0, 200, 0, 0, 0, 1, 0, 0})
		f.Add([]byte{far, actForge, 4, 1, 1, 1, 0, 0})
		f.Add([]byte{far, actForge, 6, 2, 1, 1, 0, 0, 0, 0})
		f.Add([]byte{far, actPromised, 1, actBulk, 1, 2, 5, 0x13, 0x88, 4})
		f.Add([]byte{far, actPromised, 1, actBulk, 1, 2, 0, 0, 5, actBulk, 1, 2, 0, 0, 6})
		f.Add([]byte{far, actPromised, 1, actBulk, 1, 2, 0, 0, 4, actBulk, 1, 2, 0, 0, 5})
		f.Add([]byte{far, actSend, 0, 5, 0, actForge, 2, 3, 1, 2, 0, 0, 5, 0x20, 0, 0, 0})
		f.Add([]byte{far, actSend, 0, 5, 0, actForge, 5, 6, 1, 2, 0, 0, 0, 0, 5, 0x20, 0, 0, 0, 0, 1, 0, 0})
		f.Add([]byte{far, actForge, 9, 1, 0, 0, 0, 0, 0})
	}
	f.Add([]byte{
		1, actPromised, 3, actForge, 8, 5, 3, 2, 0, 2, 1, 0, 0, 5, 0, 0, actPromised, 2, actForge, 2, 3, 1, 1,
		1,
	})
	f.Add([]byte{
		1, actPromised, 2, actForge, 8, 5, 3, 2, 0, 0, 1, 0, 0, 5, 0, 0, actForge, 8, 5, 3, 2, 0, 1, 1, 0, 0,
		5, 0, 0,
	})
	f.Add([]byte{0, actSend, 1, 6, 1, actCancel, 0, actForge, 4, 1, 1, 0, actForge, 2, 3, 1, 0, 1, 0, 0, 0})
	f.Add([]byte{
		0, actHonest, 1, 6, actProbe, 1, actProbe, 1, actRecv, 1, 2, actBulk, 1, 0, 0, 0, 3, actPoll, actBulk,
		0, 1, 9, 1, 2,
	})
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) > 300 {
			return // more steps find nothing new and take long
		}
		a := newAttack(t, program)
		for step := 0; len(a.program) > 0 && step < 60; step++ {
			a.act(a.next() % acts)
		}
		a.settle()
		a.checkFaults()
		a.checkSound()
		a.checkReached()
		a.end()
	})
}

const handlers = handlerRTR - handlerEager + 1

// What a step of an attack does. The first byte of a program chooses the conduit, then there is one for each step, and
// those that the step wants.
const (
	actRecv byte = iota
	actSend
	actPromised // a send or receive in the context with promises
	actCancel
	actProbe
	actHonest // rank 1 sends a message as it should
	actForge
	actBulk
	actPoll
	acts
)

// Contexts and tags of an attack. Those of sound messages are no others'.
const (
	attackCtx  = 1
	soundCtx   = 5
	soundTag   = 7
	reachedTag = 8
	attackTags = 3
)

// fenced is a buffer between bytes that must stay.
type fenced []byte

const fence = 32

func newFenced(n int) fenced {
	b := make(fenced, n+2*fence)
	pattern(b, n)
	return b
}

func (b fenced) inside() []byte { return b[fence : len(b)-fence : len(b)-fence] }

func (b fenced) whole() bool {
	want := newFenced(len(b) - 2*fence)
	end := len(b) - fence
	return string(b[:fence]) == string(want[:fence]) && string(b[end:]) == string(want[end:])
}

// attack is a job of three in which rank 1 is hostile.
type attack struct {
	t       *testing.T
	program []byte
	j       job
	cs      []conduit.Conduit
	faults  []error
	bad     bool // a message has left that cannot but be a fault

	reqs    []Req
	ids     []uint64 // of operations, of rank 1 and rank 2
	buffers []fenced
	held    []*Message

	soundReqs []Req
	soundIn   fenced // what rank 0 gets from rank 2
	soundOut  []byte // what rank 0 sends to rank 2
}

const soundSize = 9000

func newAttack(t *testing.T, program []byte) *attack {
	a := &attack{t: t, program: program, ids: []uint64{1}}
	cs, err := local.New(3, conduit.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if a.next()%2 == 1 {
		for i := range cs {
			cs[i] = far{cs[i]}
		}
	}
	told := fatalTo(func(err error) { a.faults = append(a.faults, err) })
	// end closes the conduits. In a cleanup that would wait for ever after a panic in a poll, and hide it.
	for _, c := range cs {
		s, _ := newServer(t, c, Config{Eager: 1024, Entries: 64}, told)
		a.j, a.cs = append(a.j, s), append(a.cs, c)
		s.OnNotice(func(int, [noticeArgs]uint64, []byte, *fult.Worker) {})
		s.Assert(firstCtx, firstNeeds)
	}
	s := a.j[0]
	a.soundIn, a.soundOut = newFenced(soundSize), make([]byte, soundSize)
	pattern(a.soundOut, 1)
	a.note(s.Irecv(soundCtx, 2, soundTag, a.soundIn.inside(), nil))
	a.note(s.Isend(soundCtx, 2, soundTag, a.soundOut, nil))
	a.soundReqs, a.reqs = a.reqs, nil
	return a
}

// next is the next byte of the program, 0 behind its end.
func (a *attack) next() byte {
	if len(a.program) == 0 {
		return 0
	}
	b := a.program[0]
	a.program = a.program[1:]
	return b
}

// size is that of a message or buffer: none, one, few, and beside the eager limit.
func (a *attack) size() int { return []int{0, 1, 100, 1024, 1025, 6000, 20000}[a.next()%7] }

func (a *attack) tag() int { return int(a.next() % attackTags) }

// note keeps an operation of rank 0.
func (a *attack) note(r Req, err error) {
	if err != nil || r.Null() {
		return
	}
	a.reqs = append(a.reqs, r)
	if r.o.id != 0 {
		a.ids = append(a.ids, r.o.id)
	}
}

// buffer is a new one.
func (a *attack) buffer() []byte {
	b := newFenced(a.size())
	a.buffers = append(a.buffers, b)
	return b.inside()
}

func (a *attack) act(what byte) {
	s, hostile := a.j[0], a.j[1]
	switch what {
	case actRecv:
		a.note(s.Irecv(attackCtx, []int{1, AnySource}[a.next()%2], a.tag(), a.buffer(), nil))
	case actSend:
		a.note(s.Isend(attackCtx, 1, a.tag(), make([]byte, a.size()), &Options{Form: Nonblocking, Mode: []Mode{Standard, Synchronous}[a.next()%2]}))
	case actPromised:
		if k := a.next(); k%2 == 0 {
			a.note(s.Isend(firstCtx, 1, int(k/2%2), make([]byte, 6000), nil))
		} else {
			b := newFenced(6000)
			a.buffers = append(a.buffers, b)
			a.note(s.Irecv(firstCtx, 1, int(k/2%2), b.inside(), nil))
		}
	case actCancel:
		if n := int(a.next()); n < len(a.reqs) {
			s.Cancel(a.reqs[n])
		}
	case actProbe:
		a.probe(int(a.next()) % attackTags)
	case actHonest:
		if _, err := hostile.Isend(attackCtx, 0, a.tag(), make([]byte, a.size()), nil); err != nil {
			a.t.Fatal(err)
		}
	case actForge:
		a.forge(a.next() % (handlers + 1))
	case actBulk:
		b := am.Bulk{Channel: bulkChannel, ID: a.word() & am.MaxBulkID, Off: int64(a.word()), Owner: noOwner{}}
		b.Data = make([]byte, a.size())
		hostile.e.PutBulk(0, &b)
	case actPoll:
		a.poll()
	}
}

// probe takes a message out of the matching, or receives the one that was taken.
func (a *attack) probe(tag int) {
	s := a.j[0]
	if len(a.held) > 0 {
		m := a.held[0]
		a.held = a.held[1:]
		a.note(s.Imrecv(m, a.buffer(), nil))
		return
	}
	if m, _, err := s.Improbe(attackCtx, AnySource, tag); err == nil && m != nil {
		a.held = append(a.held, m)
	}
}

// word is an argument: often one that means something.
func (a *attack) word() uint64 {
	v := a.next()
	switch v % 6 {
	case 0:
		return uint64(a.next())
	case 1:
		return a.ids[int(a.next())%len(a.ids)]
	case 2:
		return makeKey(attackCtx, 1, a.tag())
	case 3:
		return makeKey(firstCtx, 1, a.tag())
	case 4:
		return ^uint64(0) >> (a.next() % 64)
	}
	return uint64(a.next())<<8 | uint64(a.next())
}

// forge has rank 1 send a message of handler number h with any arguments and bytes. Number handlers is one of rank 2.
func (a *attack) forge(h byte) {
	args := make([]uint64, a.next()%(am.MaxArgs/2+2))
	for i := range args {
		args[i] = a.word()
	}
	if h == handlers && len(args) > 0 {
		args[0] = makeKey(attackCtx, 2, a.tag())
	}
	h %= handlers
	var payload []byte
	for range a.next() % 16 {
		payload = binary.LittleEndian.AppendUint64(payload, a.word())
	}
	a.bad = a.bad || malformed(handlerEager+h, args)
	if a.next()%2 == 0 {
		a.j[1].e.Post(0, handlerEager+h, payload, args...)
	} else {
		a.j[1].e.PostUrgent(0, handlerEager+h, args...)
	}
}

// malformed reports what is wrong without a look at rank 0: how many arguments a message has, and whose it says it is.
func malformed(h uint8, args []uint64) bool {
	bounds := map[uint8][2]int{
		handlerEager: {1, 2}, handlerRTS: {5, 7}, handlerCTS: {3, 3}, handlerRetract: {2, 3}, handlerRetracted: {1, 3},
		handlerGo: {6, 6}, handlerCopied: {2, 2}, handlerNotice: {noticeArgs, noticeArgs}, handlerRTR: {5, 5},
	}[h]
	if n := len(args); n < bounds[0] || n > bounds[1] {
		return true
	}
	switch h {
	case handlerEager, handlerRTS, handlerRTR:
		return keySource(args[0]) != 1
	case handlerRetract:
		return keySource(args[1]) != 1
	}
	return false
}

func (a *attack) poll() {
	for _, s := range []*Server{a.j[1], a.j[0], a.j[2]} {
		s.Poll()
	}
}

// settle polls until nothing moves, as nothing else does.
func (a *attack) settle() {
	for quiet, polls := 0, 0; quiet < 4; quiet++ {
		for _, s := range a.j {
			if s.Poll() > 0 {
				quiet = 0
			}
		}
		if polls++; polls > 10000 {
			a.t.Fatal("the ranks do not come to rest")
		}
	}
}

// checkFaults: what is malformed has been told, and by the name of who has sent it.
func (a *attack) checkFaults() {
	if a.bad && len(a.faults) == 0 {
		a.t.Error("a malformed message is no fault")
	}
	for _, err := range a.faults {
		if !errors.Is(err, ErrProtocol) || !strings.Contains(err.Error(), "from rank 1") {
			a.t.Errorf("the fault %q does not name rank 1", err)
		}
	}
}

// checkSound has ranks 0 and 2 do what they began before the attack.
func (a *attack) checkSound() {
	good := a.j[2]
	in := make([]byte, soundSize)
	out := make([]byte, soundSize)
	pattern(out, 2)
	got, err := good.Irecv(soundCtx, 0, soundTag, in, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	sent, err := good.Isend(soundCtx, 0, soundTag, out, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	a.settle()
	if err := errors.Join(ended(good, got), ended(good, sent), checkPattern(in, 1)); err != nil {
		a.t.Errorf("rank 2: %v", err)
	}
	for _, r := range a.soundReqs {
		if err := ended(a.j[0], r); err != nil {
			a.t.Errorf("rank 0, with rank 2: %v", err)
		}
	}
	if err := checkPattern(a.soundIn.inside(), 2); err != nil || !a.soundIn.whole() {
		a.t.Errorf("rank 0 has from rank 2: %v; the bytes beside are whole: %v", err, a.soundIn.whole())
	}
}

// ended is why r has not ended well.
func ended(s *Server, r Req) error {
	if !r.Ready() {
		return fmt.Errorf("rank %d: it has not ended", s.rank)
	}
	_, err := s.Wait(r)
	return err
}

// checkReached: after messages that are no faults another one of rank 1 arrives.
func (a *attack) checkReached() {
	if len(a.faults) > 0 {
		return
	}
	b := newFenced(100)
	r, err := a.j[0].Irecv(attackCtx, 1, reachedTag, b.inside(), nil)
	if err != nil {
		a.t.Fatal(err)
	}
	want := make([]byte, 100)
	pattern(want, 3)
	if _, err := a.j[1].Isend(attackCtx, 0, reachedTag, want, nil); err != nil {
		a.t.Fatal(err)
	}
	a.settle()
	if err := errors.Join(ended(a.j[0], r), checkPattern(b.inside(), 3)); err != nil || !b.whole() {
		a.t.Errorf("the message after all: %v", err)
	}
}

// end closes all ranks, and sees that each operation ends.
func (a *attack) end() {
	for _, m := range a.held {
		a.note(a.j[0].Imrecv(m, nil, nil))
	}
	for _, rank := range []int{1, 0, 2} {
		a.j[rank].Close()
	}
	for _, c := range a.cs {
		if err := c.Close(); err != nil {
			a.t.Error(err)
		}
	}
	for i, r := range a.reqs {
		if !r.Ready() {
			a.t.Errorf("operation %d has not ended: %+v", i, r.o)
		}
	}
	for i, b := range a.buffers {
		if !b.whole() {
			a.t.Errorf("bytes beside buffer %d have changed", i)
		}
	}
}
