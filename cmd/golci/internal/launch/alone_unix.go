//go:build unix

package launch

import (
	"fmt"
	"net"
	"os"
	"syscall"

	"github.com/golci/golci/internal/boot"
)

// alone is the team of a job on this machine.
type alone struct {
	j    *job
	crew *crew // nil before start
}

func (a *alone) gather() (places, error) {
	n := a.j.spec.Ranks
	return places{size: n, nodes: []int{n}, name: rankName}, nil
}

func rankName(rank int) string { return fmt.Sprintf("rank %d", rank) }

func (a *alone) start(j *job) error {
	a.crew = &crew{
		count: j.places.size, size: j.places.size, argv: j.spec.Argv,
		env:  append(cleanEnv(os.Environ()), j.spec.Env...),
		bind: j.spec.Bind, jobID: boot.IDFromKey(j.key), guard: j.spec.Guard, stdin: j.spec.Stdin,
		attach: func(rank int, c net.Conn) { j.srv.Attach(rank, c) },
		stream: j.sink,
		heard:  func(rank int) <-chan struct{} { return j.heard[rank] },
		ended:  func(rank int, st status) { j.exits <- ended{rank, st} },
		detail: j.detail,
	}
	return a.crew.start()
}

func (a *alone) kill(sig syscall.Signal) {
	if a.crew != nil {
		a.crew.kill(sig)
	}
}

func (a *alone) pause() {}

func (a *alone) end() {
	a.kill(syscall.SIGKILL)
	if a.crew != nil {
		a.crew.wait()
	}
}
