//go:build linux

package main

/*
#include "info.h"
#include "process.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/info"
	"github.com/golci/golci/mpi/internal/sentinel"
)

//export golciSpawn
func golciSpawn(comm, root, count C.int, commands *C.struct_command, n *C.struct_newcomm, total *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	c := at(comm)
	var list []core.Command
	var bad error
	if c.Rank() == int(root) {
		for i, x := range unsafe.Slice(commands, int(count)) {
			cmd, err := commandOf(&x)
			if err != nil && bad == nil {
				bad = fmt.Errorf("command %d: %w", i, err)
			}
			list = append(list, cmd)
		}
	}
	d, procs, err := c.SpawnUnless(bad, int(root), list)
	*total = C.int(procs)
	return put(d, err, n)
}

// commandOf reads a command of the program. The info keys are those of 11.8.4: wdir, path and host; soft asks for
// nothing that must be given.
func commandOf(x *C.struct_command) (cmd core.Command, err error) {
	cmd.N = int(x.n)
	if x.path == nil {
		return cmd, fmt.Errorf("%w: no program", sentinel.ErrArgument)
	}
	cmd.Argv = []string{C.GoString(x.path)}
	for p := x.argv; p != nil && *p != nil; p = (**C.char)(unsafe.Add(unsafe.Pointer(p), unsafe.Sizeof(*p))) {
		cmd.Argv = append(cmd.Argv, C.GoString(*p))
	}
	if cmd.Dir, err = os.Getwd(); err != nil || x.info == C.null_info {
		return cmd, err
	}
	o, ok := infos.get(uintptr(x.info))
	if !ok {
		return cmd, fmt.Errorf("%w: there is no info object %#x", errs.Info, x.info)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if dir, ok, _ := o.info.Get("wdir"); ok { // the key is valid
		cmd.Dir = dir
	}
	if path, ok, _ := o.info.Get("path"); ok {
		cmd.Path = strings.FieldsFunc(path, func(r rune) bool { return r == ':' || r == ' ' })
	}
	return cmd, elsewhere(o.info)
}

// elsewhere refuses a host that is not this one: spawned processes run on this machine.
func elsewhere(i *info.Info) error {
	host, ok, _ := i.Get("host") // the key is valid
	own, err := os.Hostname()
	if !ok || host == "localhost" || err == nil && host == own {
		return nil
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%w: on host %q: processes are spawned on this machine, %s", errs.Spawn, host, own)
}

//export golciParent
func golciParent(n *C.struct_newcomm) (class C.int) {
	defer recovered(&class)
	begun()
	return put(proc.Load().Parent(), nil, n)
}

// give writes a text to memory of the program, which has room for it.
func give(to *C.char, room int, text string, err error) C.int {
	if err == nil && len(text) >= room {
		err = fmt.Errorf("%w: a name of %d bytes, where %d have room", errs.ValueTooLarge, len(text), room-1)
	}
	if err == nil {
		b := unsafe.Slice((*byte)(unsafe.Pointer(to)), len(text)+1)
		b[copy(b, text)] = 0
	}
	return classOf(err)
}

//export golciOpenPort
func golciOpenPort(name *C.char) (class C.int) {
	defer recovered(&class)
	begun()
	text, err := proc.Load().OpenPort()
	return give(name, C.MPI_MAX_PORT_NAME, text, err)
}

//export golciClosePort
func golciClosePort(name *C.char) (class C.int) {
	defer recovered(&class)
	begun()
	return classOf(proc.Load().ClosePort(C.GoString(name)))
}

//export golciAccept
func golciAccept(comm, root C.int, name *C.char, n *C.struct_newcomm) (class C.int) {
	defer recovered(&class)
	begun()
	d, err := at(comm).Accept(portAt(comm, root, name), int(root))
	return put(d, err, n)
}

//export golciConnect
func golciConnect(comm, root C.int, name *C.char, n *C.struct_newcomm) (class C.int) {
	defer recovered(&class)
	begun()
	d, err := at(comm).Connect(portAt(comm, root, name), int(root))
	return put(d, err, n)
}

// portAt is the name of a port where it counts: at the root. Elsewhere the pointer may be anything.
func portAt(comm, root C.int, name *C.char) string {
	if at(comm).Rank() != int(root) {
		return ""
	}
	return C.GoString(name)
}

//export golciDisconnect
func golciDisconnect(comm C.int) (class C.int) {
	defer recovered(&class)
	begun()
	return classOf(at(comm).Part())
}

//export golciJoin
func golciJoin(fd C.int, n *C.struct_newcomm) (class C.int) {
	defer recovered(&class)
	begun()
	d, err := proc.Load().Meet(socket(fd))
	return put(d, err, n)
}

// socket is a connection of the program, whose descriptor stays as it is.
type socket int

// again waits until the socket is ready, if err says that it was not.
func (s socket) again(err error, events int16) bool {
	switch {
	case errors.Is(err, unix.EINTR):
		return true
	case errors.Is(err, unix.EAGAIN):
		_, err = unix.Poll([]unix.PollFd{{Fd: int32(s), Events: events}}, -1)
		return err == nil || errors.Is(err, unix.EINTR)
	}
	return false
}

func (s socket) Read(b []byte) (int, error) {
	for {
		n, err := unix.Read(int(s), b)
		switch {
		case err == nil && n > 0:
			return n, nil
		case err == nil:
			return 0, fmt.Errorf("%w: the connection has ended", errs.Other)
		case !s.again(err, unix.POLLIN):
			return 0, os.NewSyscallError("read", err)
		}
	}
}

func (s socket) Write(b []byte) (done int, err error) {
	for done < len(b) {
		n, err := unix.Write(int(s), b[done:])
		if err != nil && !s.again(err, unix.POLLOUT) {
			return done, os.NewSyscallError("write", err)
		}
		done += max(n, 0)
	}
	return done, nil
}

//export golciPublish
func golciPublish(service, port *C.char) (class C.int) {
	defer recovered(&class)
	begun()
	return classOf(proc.Load().PublishName(C.GoString(service), C.GoString(port)))
}

//export golciUnpublish
func golciUnpublish(service *C.char) (class C.int) {
	defer recovered(&class)
	begun()
	return classOf(proc.Load().UnpublishName(C.GoString(service)))
}

//export golciLookup
func golciLookup(service, port *C.char) (class C.int) {
	defer recovered(&class)
	begun()
	text, err := proc.Load().LookupName(C.GoString(service))
	return give(port, C.MPI_MAX_PORT_NAME, text, err)
}
