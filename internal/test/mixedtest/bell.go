package mixedtest

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/golci/golci/conduit"
)

// belled gives a conduit a bell: while it is armed, a goroutine sleeps in it.
type belled struct {
	conduit.Conduit
	ring  func()
	stop  atomic.Bool
	ended chan struct{} // of the goroutine of the last Arm
	armed bool          // owned by who arms and disarms
}

// WithBell returns c with conduit.Belled. Nobody else may sleep in c. Each Arm allocates. Nothing of c but the
// methods of conduit.Conduit is to be had through the result.
func WithBell(c conduit.Conduit) conduit.Conduit {
	return &belled{Conduit: c, ended: make(chan struct{}, 1)}
}

func (b *belled) Bell(f func()) { b.ring = f }

func (b *belled) Arm() {
	b.armed = true
	b.stop.Store(false)
	armed := make(chan struct{})
	go func() {
		b.listen(sync.OnceFunc(func() { close(armed) }))
		b.ended <- struct{}{}
	}()
	<-armed
}

// listen sleeps until something has come, and rings. armed is called as soon as the conduit listens.
func (b *belled) listen(armed func()) {
	defer armed() // if the sleep was over before it began
	b.Sleep(time.Hour, func() bool {
		armed()
		return b.stop.Load()
	})
	if !b.stop.Load() {
		b.ring()
	}
}

func (b *belled) Disarm() {
	if !b.armed {
		return
	}
	b.armed = false
	b.stop.Store(true)
	b.Wake()
	<-b.ended
}
