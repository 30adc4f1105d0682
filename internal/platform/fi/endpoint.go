//go:build ofi && linux && (amd64 || arm64)

package fi

import (
	"bytes"
	"errors"
	"fmt"
	"unsafe"

	"github.com/golci/golci/internal/platform/dl"
)

// Endpoint is one rank's end: a fabric, a domain, a table of addresses, a completion queue, and the endpoint itself.
// Addresses that are given to it as uintptr are of memory outside of the Go heap, or pinned until the completion.
type Endpoint struct {
	// Info is what it was opened from. It has been freed.
	Info *Info
	// WaitFD is readable when completions have come after TryWait; -1 if the provider has no such descriptor.
	WaitFD int

	lib                         *Library
	fabric, domain, av, cq, ep  uintptr
	tryWait, insert, strAddr    uintptr
	reg, cqRead, readErr, cqStr uintptr
	recv, recvMsg, send, inject uintptr
	rmaRead, rmaWriteMsg        uintptr

	regions int // that have not been taken back
	hot     scratch
}

const busy = 16 // EBUSY

// batch is how many completions one Read takes at most.
const batch = 16

// scratch is what calls point to that are too frequent to allocate it. It lies in the Go heap with the endpoint: a
// stack might be moved between the taking of an address and the call.
type scratch struct {
	frame dl.Frame
	got   [batch]Completion
	cq    uintptr
	desc  uintptr
	iov   iovec
	there rmaIov
	msg   struct {
		msg
		slack
	}
	rma struct {
		msgRMA
		slack
	}
}

// Open opens an endpoint. depth is how many completions may wait, most how many peers there will be, and longest the
// longest message in bytes: a buffer for several has room for one more of that length until it is given back. It may
// take long, and calls the system. Handlers of signals stay as they are. It frees i.
func (i *Info) Open(depth, most, longest int) (e *Endpoint, err error) {
	defer i.Free()
	e = &Endpoint{Info: i, WaitFD: -1, lib: i.lib}
	dl.KeepHandlers(func() { err = e.openEndpoint(depth, most, longest) })
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s, domain %s: %w", i.Provider, i.Domain, err), e.Close())
	}
	return e, nil
}

func (e *Endpoint) openEndpoint(depth, most, longest int) error {
	l, list := e.lib, e.Info.ptr
	if rc := callC(l.fabric, memoryAt[info](list).fabr, uintptr(unsafe.Pointer(&e.fabric)), 0); rc != 0 {
		return l.Error("fi_fabric", rc)
	}
	domain, err := operationAt(memoryAt[object](e.fabric).ops, opDomain)
	if err != nil {
		return err
	}
	if e.tryWait, err = operationAt(memoryAt[object](e.fabric).ops, opTryWait); err != nil {
		return err
	}
	if rc := callC(domain, e.fabric, list, uintptr(unsafe.Pointer(&e.domain)), 0); rc != 0 {
		return l.Error("fi_domain", rc)
	}
	d := memoryAt[fidDomain](e.domain)
	if e.reg, err = operationAt(d.mr, opReg); err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return e.openAV(d.ops, most) },
		func() error { return e.openCQ(d.ops, depth) },
		func() error { return e.openEP(d.ops, list, longest) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (e *Endpoint) openAV(table uintptr, most int) error {
	open, err := operationAt(table, opAVOpen)
	if err != nil {
		return err
	}
	var a struct {
		avAttr
		slack
	}
	a.kind, a.count = avTable, uintptr(most)
	if rc := callC(open, e.domain, uintptr(unsafe.Pointer(&a.avAttr)), uintptr(unsafe.Pointer(&e.av)), 0); rc != 0 {
		return e.lib.Error("fi_av_open", rc)
	}
	return readOperations(memoryAt[object](e.av).ops, map[*uintptr]uintptr{&e.insert: opInsert, &e.strAddr: opStrAddr})
}

// openCQ opens the completion queue, with a descriptor to wait for if the provider has one.
func (e *Endpoint) openCQ(table uintptr, depth int) error {
	open, err := operationAt(table, opCQOpen)
	if err != nil {
		return err
	}
	var a struct {
		cqAttr
		slack
	}
	a.size, a.format, a.waitObj = uintptr(depth), formatData, waitFD
	if callC(open, e.domain, uintptr(unsafe.Pointer(&a.cqAttr)), uintptr(unsafe.Pointer(&e.cq)), 0) == 0 {
		var fd int32
		if controlObject(e.lib, "FI_GETWAIT", e.cq, cmdGetWait, uintptr(unsafe.Pointer(&fd))) == nil {
			e.WaitFD = int(fd)
		} else if err := closeObject(e.lib, "completion queue", e.cq); err != nil {
			return err
		}
	}
	if e.WaitFD < 0 {
		e.cq, a.waitObj = 0, waitNone
		if rc := callC(open, e.domain, uintptr(unsafe.Pointer(&a.cqAttr)), uintptr(unsafe.Pointer(&e.cq)), 0); rc != 0 {
			return e.lib.Error("fi_cq_open", rc)
		}
	}
	return readOperations(memoryAt[object](e.cq).ops, map[*uintptr]uintptr{
		&e.cqRead: opCQRead, &e.readErr: opReadErr, &e.cqStr: opCQStrError,
	})
}

func (e *Endpoint) openEP(table, list uintptr, longest int) error {
	open, err := operationAt(table, opEndpoint)
	if err != nil {
		return err
	}
	l := e.lib
	if rc := callC(open, e.domain, list, uintptr(unsafe.Pointer(&e.ep)), 0); rc != 0 {
		return l.Error("fi_endpoint", rc)
	}
	ep := memoryAt[fidEndpoint](e.ep)
	err = readOperations(ep.msg, map[*uintptr]uintptr{
		&e.recv: opRecv, &e.recvMsg: opRecvMsg, &e.send: opSend, &e.inject: opInject,
	})
	if err != nil {
		return err
	}
	if err := readOperations(ep.rma, map[*uintptr]uintptr{&e.rmaRead: opRead, &e.rmaWriteMsg: opWriteMsg}); err != nil {
		return err
	}
	if err := bindObject(l, "binding the table of addresses", e.ep, e.av, 0); err != nil {
		return err
	}
	if err := bindObject(l, "binding the completion queue", e.ep, e.cq, flagTransmit|flagRecv); err != nil {
		return err
	}
	early := l.Major > 2 || l.Major == 2 && l.Minor >= 1
	if early {
		e.Info.MultiRecv = e.Info.MultiRecv && e.leaveRoom(ep.ops, longest)
	}
	if err := controlObject(l, "fi_enable", e.ep, cmdEnable, 0); err != nil {
		return err
	}
	if !early {
		e.Info.MultiRecv = e.Info.MultiRecv && e.leaveRoom(ep.ops, longest)
	}
	return nil
}

// leaveRoom makes the library give back a buffer for several messages that has no room for one of n bytes. It tells
// whether the provider does that; a message would be lost otherwise. Up to 2.0 provider shm crashes if the endpoint is
// not enabled yet. From 2.1 on it heeds only what was set before.
func (e *Endpoint) leaveRoom(table uintptr, n int) bool {
	set, err := operationAt(table, opSetOpt)
	size := uintptr(n)
	return err == nil && callC(set, e.ep, optEndpoint, optMinMulti, uintptr(unsafe.Pointer(&size)), wordBytes) == 0
}

// Close ends the endpoint and all that belongs to it. Afterwards the library touches no memory that it was given. It
// stops at the first object that cannot be closed. Of a domain that is busy, though all that it was given has been
// taken back, there is no error: ofi_rxm loses registrations of its own when a long message is cut off. The domain then
// stays, without use.
func (e *Endpoint) Close() error {
	for _, o := range []struct {
		what string
		at   *uintptr
	}{
		{"endpoint", &e.ep},
		{"completion queue", &e.cq},
		{"table of addresses", &e.av},
		{"domain", &e.domain},
		{"fabric", &e.fabric},
	} {
		err := closeObject(e.lib, o.what, *o.at)
		*o.at = 0
		var code *CodeError
		switch {
		case err == nil:
		case o.what == "domain" && e.regions == 0 && errors.As(err, &code) && code.Code == busy:
			return nil // the library's own
		default:
			return err // what it belongs to cannot be closed either
		}
	}
	return nil
}

// CloseEndpoint ends the endpoint itself: what is under way ends. Memory that was registered with it must have been
// given back. Close follows.
func (e *Endpoint) CloseEndpoint() error {
	ep := e.ep
	e.ep = 0
	return closeObject(e.lib, "endpoint", ep)
}

// Name is the address of the endpoint, for others to insert.
func (e *Endpoint) Name() ([]byte, error) {
	get, err := operationAt(memoryAt[fidEndpoint](e.ep).cm, opGetName)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 1024)
	n := uintptr(len(b))
	if rc := callC(get, e.ep, uintptr(unsafe.Pointer(&b[0])), uintptr(unsafe.Pointer(&n))); rc != 0 {
		return nil, e.lib.Error("fi_getname", rc)
	}
	return b[:n], nil
}

// Insert makes an address known, and returns its number.
func (e *Endpoint) Insert(name []byte) (uint64, error) {
	var number uint64
	b := append(append([]byte(nil), name...), make([]byte, 64)...)
	if rc := callC(e.insert, e.av, uintptr(unsafe.Pointer(&b[0])), 1, uintptr(unsafe.Pointer(&number)), 0, 0); rc != 1 {
		return 0, e.lib.Error("fi_av_insert of "+e.Address(name), min(rc, -22))
	}
	return number, nil
}

// Address is an address for people to read.
func (e *Endpoint) Address(name []byte) string {
	b := append(append([]byte(nil), name...), make([]byte, 64)...)
	out := make([]byte, 256)
	n := uintptr(len(out))
	callPointer(e.strAddr, e.av,
		uintptr(unsafe.Pointer(&b[0])), uintptr(unsafe.Pointer(&out[0])), uintptr(unsafe.Pointer(&n)))
	if end := bytes.IndexByte(out, 0); end >= 0 {
		out = out[:end]
	}
	return string(out)
}

// Region is memory that the library knows.
type Region struct {
	Key  uint64
	Desc uintptr // for local buffers
	mr   uintptr
}

// Register makes memory of n bytes known. Peers reach it under the key if remote is true. key is the one asked for,
// where the provider does not choose. It may call the system and pin pages.
func (e *Endpoint) Register(mem uintptr, n int, key uint64, remote bool) (Region, error) {
	access := uint64(accessSend | accessRecv | accessRead | accessWrite)
	if remote {
		access |= accessPeerRead | accessPeerWrite
	}
	var r Region
	rc := callC(e.reg, e.domain, mem, uintptr(n), uintptr(access), 0, uintptr(key), 0, uintptr(unsafe.Pointer(&r.mr)), 0)
	if rc != 0 {
		return Region{}, e.lib.Error(fmt.Sprintf("registering %d bytes", n), rc)
	}
	e.regions++
	if e.Info.ByEndpoint {
		err := bindObject(e.lib, "binding memory", r.mr, e.ep, 0)
		if err == nil {
			err = controlObject(e.lib, "enabling memory", r.mr, cmdEnable, 0)
		}
		if err != nil {
			return Region{}, errors.Join(err, e.Forget(r))
		}
	}
	m := memoryAt[fidMR](r.mr)
	r.Key, r.Desc = m.key, m.desc
	return r, nil
}

// Forget takes memory back from the library.
func (e *Endpoint) Forget(r Region) error {
	err := closeObject(e.lib, "memory", r.mr)
	if err == nil && r.mr != 0 {
		e.regions--
	}
	return err
}

// TryWait tells whether the descriptor may be waited for. If not, there is something to read from the queue.
func (e *Endpoint) TryWait() bool {
	h := &e.hot
	h.cq = e.cq
	h.frame.Fn = e.tryWait
	h.frame.Arg[0], h.frame.Arg[1], h.frame.Arg[2] = e.fabric, uintptr(unsafe.Pointer(&h.cq)), 1
	return h.frame.Int32() == 0
}

// Completion tells of an operation that is over.
type Completion struct {
	Context uintptr // as it was given with the operation
	Flags   uint64
	Len     uintptr
	Buf     uintptr // of a message in a buffer for several
	Data    uint64
}

// Read takes up to most completions from the queue, sixteen at most. They are there until the next call. code is 0, or
// negated: -Again if there is none, -Available if the next one is an error, for Failure to take.
func (e *Endpoint) Read(most int) (got []Completion, code int) {
	h := &e.hot
	h.frame.Fn = e.cqRead
	h.frame.Arg[0], h.frame.Arg[1], h.frame.Arg[2] = e.cq, uintptr(unsafe.Pointer(&h.got)), uintptr(min(most, batch))
	n := h.frame.Int()
	if n < 0 {
		return nil, n
	}
	return h.got[:min(n, batch)], 0
}

// Failure takes an error from the queue: the context of the operation, its flags, and what the provider says. ok is
// false if there is none.
func (e *Endpoint) Failure() (c Completion, err error, ok bool) {
	x := new(struct {
		cqErrEntry
		slack
	})
	if n := callC(e.readErr, e.cq, uintptr(unsafe.Pointer(&x.cqErrEntry)), 0); n != 1 {
		return Completion{}, nil, false
	}
	buf := make([]byte, 256)
	said := goString(callPointer(e.cqStr, e.cq,
		uintptr(x.provErr), x.errData, uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf))))
	c = Completion{Context: x.context, Flags: x.flags, Len: x.len, Buf: x.buf}
	return c, e.lib.Error(e.Info.Provider+": "+said, int(x.err)), true
}

// Post gives a buffer for messages to the library, for several if the endpoint has such. It returns 0 or a negated
// code.
func (e *Endpoint) Post(buf uintptr, n int, desc, context uintptr) int {
	h := &e.hot
	if !e.Info.MultiRecv {
		h.frame.Fn = e.recv
		h.frame.Arg = [dl.Args]uintptr{e.ep, buf, uintptr(n), desc, anybody, context}
		return h.frame.Int()
	}
	h.iov, h.desc = iovec{buf, uintptr(n)}, desc
	h.msg.msg = msg{
		iov: uintptr(unsafe.Pointer(&h.iov)), desc: uintptr(unsafe.Pointer(&h.desc)), iovCount: 1,
		addr: anybody, context: context,
	}
	h.frame.Fn = e.recvMsg
	h.frame.Arg = [dl.Args]uintptr{e.ep, uintptr(unsafe.Pointer(&h.msg)), capMultiRecv | flagCompletion}
	return h.frame.Int()
}

const anybody = 1<<64 - 1 // FI_ADDR_UNSPEC

// Send sends n bytes to the peer of that number. They stay as they are until the completion with the context. It
// returns 0 or a negated code; -Again has had no effect.
func (e *Endpoint) Send(buf uintptr, n int, desc uintptr, to uint64, context uintptr) int {
	f := &e.hot.frame
	f.Fn = e.send
	f.Arg = [dl.Args]uintptr{e.ep, buf, uintptr(n), desc, uintptr(to), context}
	return f.Int()
}

// Inject sends n bytes, at most Info.Inject, which the library copies. There is no completion. It returns what Send
// does.
func (e *Endpoint) Inject(buf uintptr, n int, to uint64) int {
	f := &e.hot.frame
	f.Fn = e.inject
	f.Arg = [dl.Args]uintptr{e.ep, buf, uintptr(n), uintptr(to)}
	return f.Int()
}

// ReadFrom copies n bytes at addr, under a key of the peer, to buf. It returns what Send does.
func (e *Endpoint) ReadFrom(buf uintptr, n int, desc uintptr, from, addr, key uint64, context uintptr) int {
	f := &e.hot.frame
	f.Fn = e.rmaRead
	f.Arg = [dl.Args]uintptr{e.ep, buf, uintptr(n), desc, uintptr(from), uintptr(addr), uintptr(key), context}
	return f.Int()
}

// WriteTo copies n bytes of buf to addr, under a key of the peer. At the completion they are in the peer's memory. It
// returns what Send does.
func (e *Endpoint) WriteTo(buf uintptr, n int, desc uintptr, to, addr, key uint64, context uintptr) int {
	h := &e.hot
	h.iov, h.there, h.desc = iovec{buf, uintptr(n)}, rmaIov{addr, uintptr(n), key}, desc
	h.rma.msgRMA = msgRMA{
		iov: uintptr(unsafe.Pointer(&h.iov)), desc: uintptr(unsafe.Pointer(&h.desc)), iovCount: 1, addr: to,
		rmaIov: uintptr(unsafe.Pointer(&h.there)), rmaIovCount: 1, context: context,
	}
	h.frame.Fn = e.rmaWriteMsg
	h.frame.Arg = [dl.Args]uintptr{e.ep, uintptr(unsafe.Pointer(&h.rma)), flagDelivery | flagCompletion}
	return h.frame.Int()
}
