package comm

import (
	"runtime"
	"sync/atomic"

	"github.com/golci/golci/internal/affinity"
	"github.com/golci/golci/internal/progress"
)

// dedicated is a server with a goroutine, an OS thread and, if there is one to spare, a core of its own.
type dedicated struct {
	quit atomic.Bool
	gone chan struct{}
	eng  *progress.Engine
}

// startDedicated binds the server's thread to cpu, unless that is negative.
func startDedicated(eng *progress.Engine, cpu int) *dedicated {
	d := &dedicated{gone: make(chan struct{}), eng: eng}
	go func() {
		defer close(d.gone)
		// Never unlocked: the thread ends with the goroutine, and its affinity with it.
		runtime.LockOSThread()
		if cpu >= 0 {
			_ = affinity.Set(cpu) // a server that may not be bound still serves
		}
		eng.Serve(d.quit.Load)
	}()
	return d
}

func (d *dedicated) stop() {
	d.quit.Store(true)
	d.eng.Wake()
	<-d.gone
}
