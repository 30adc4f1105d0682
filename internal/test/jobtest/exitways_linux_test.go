package jobtest

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"github.com/golci/golci/am"
	"github.com/golci/golci/mpi"
)

// Handlers of active messages.
const (
	handlerExit = 100 // exits in the handler
	handlerStay = 101 // stays in the handler for ever
)

// self is the rank of this process, for handlers; set before the first message can arrive that runs one.
var self *mpi.Proc

var (
	exitSpec = am.Spec{Name: "exit", MaxReply: am.NoReply, Run: func(*am.Token, []uint64, []byte) { _ = self.Exit(16) }}
	staySpec = am.Spec{Name: "stay", MaxReply: am.NoReply, Run: func(*am.Token, []uint64, []byte) { select {} }}
)

// manyLines is what each rank says last in the way "output".
const manyLines = 300

var ways = map[string]func(p *mpi.Proc) error{
	"finalize":        (*mpi.Proc).Finalize,
	"collective":      with(7),
	"collective zero": with(0),
	"range":           with(0x1105),
	"negative":        with(-1),
	"several":         func(p *mpi.Proc) error { return exit(p, 10+p.World().Rank()) },
	"receive":         oneSided(with(3), never),
	"receive zero":    oneSided(with(0), never),
	"barrier":         oneSided(with(4), func(p *mpi.Proc) error { return p.World().Barrier() }),
	"finalizing":      oneSided(with(5), (*mpi.Proc).Finalize),
	"compute":         oneSided(with(6), compute),
	"in handlers":     oneSided(inHandlers, never),
	"from handler":    oneSided(fromHandler, never),
	"from thread":     oneSided(fromThread, threads),
	"large":           oneSided(with(8), large),
	"abort":           oneSided(func(p *mpi.Proc) error { return p.Abort(11, errors.New("on purpose")) }, never),
	"unfinished":      oneSided(func(*mpi.Proc) error { return nil }, never),
	"os.Exit":         oneSided(func(*mpi.Proc) error { os.Exit(9); return nil }, never),
	"finalize, then code": func(p *mpi.Proc) error {
		err := p.Finalize()
		if culprit(p) && err == nil {
			return p.Exit(12)
		}
		return err
	},
	"panic":           oneSided(func(*mpi.Proc) error { panic("on purpose") }, never),
	"thread panic":    oneSided(threadPanic, never),
	"goroutine panic": oneSided(func(p *mpi.Proc) error { go panic("on purpose"); return never(p) }, never),
	"segv":            oneSided(segv, never),
	"kill":            oneSided(func(*mpi.Proc) error { return syscall.Kill(os.Getpid(), syscall.SIGKILL) }, never),
	"wait":            func(p *mpi.Proc) error { fmt.Println("waiting"); return never(p) },
	"death in exit":   deathInExit,
	"deaf":            oneSided(compute, with(3)), // with the environment that the test gives
	"output": func(p *mpi.Proc) error {
		for i := range manyLines {
			fmt.Printf("line %d of rank %d\n", i, p.World().Rank())
		}
		return exit(p, 0)
	},
}

func compute(*mpi.Proc) error {
	for x := uint64(1); ; x = x*6364136223846793005 + 1 {
		if x == 0 { // never: 1 is on the cycle of odd and even numbers that the generator runs through for centuries
			return errReturned
		}
	}
}

// inHandlers has all other ranks stay in a handler, so that they poll no more, and exits.
func inHandlers(p *mpi.Proc) error {
	for r := range p.World().Size() - 1 {
		if err := p.Server().Endpoint().RequestShort(r, handlerStay); err != nil {
			return err
		}
	}
	return exit(p, 15)
}

// fromHandler has rank 0 exit in a handler.
func fromHandler(p *mpi.Proc) error {
	if err := p.Server().Endpoint().RequestShort(0, handlerExit); err != nil {
		return err
	}
	return never(p)
}

func fromThread(p *mpi.Proc) error {
	h, err := p.Go(func() { _ = p.Exit(17) })
	if err != nil {
		return err
	}
	if err := h.Join(); err != nil {
		return err
	}
	return errReturned
}

func threads(p *mpi.Proc) error {
	for range 10 {
		if _, err := p.Go(func() {
			if err := never(p); err != nil {
				os.Exit(97)
			}
		}); err != nil {
			return err
		}
	}
	return never(p)
}

// large leaves a message on its way that nobody will receive.
func large(p *mpi.Proc) error {
	if err := mpi.Send(p.World(), make([]byte, 1<<20), p.World().Size()-1, 2); err != nil {
		return err
	}
	return errReturned
}

func threadPanic(p *mpi.Proc) error {
	if _, err := p.Go(func() { panic("on purpose") }); err != nil {
		return err
	}
	return never(p)
}

func segv(*mpi.Proc) error {
	p := uintptr(1 << 20) // nothing is mapped there
	*(*int)(*(*unsafe.Pointer)(unsafe.Pointer(&p))) = 1
	return errReturned
}

// deathInExit has the first rank exit and the last one die, at once.
func deathInExit(p *mpi.Proc) error {
	switch {
	case culprit(p):
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case p.World().Rank() == 0:
		return exit(p, 3)
	}
	return never(p)
}
