package rank

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/golci/golci/am"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/progress"
)

// Poll is am.Endpoint.Poll: it handles what has arrived, and does not block.
func (r *Rank) Poll() int { return r.ep.Poll() }

// BlockUntil waits until cond returns true and makes progress meanwhile, as GASNET_BLOCKUNTIL does. The caller's own
// goroutine or thread evaluates cond: at first, and again after each poll that may have handled messages. So cond may
// become true through a handler of this rank or through the end of the rank. Another goroutine or thread may run the
// handlers, so what cond reads must be atomic or guarded. While it waits, a light-weight thread lets other threads
// run, and a goroutine blocks. In a handler it returns am.ErrContext. Other errors leave cond false: the endpoint's
// fault, or why the rank has ended.
func (r *Rank) BlockUntil(cond func() bool) error {
	if err := r.ep.Allow(am.CallWait); err != nil {
		return r.rankErrorf("BlockUntil", "%w", err)
	}
	if cond() {
		return nil
	}
	d := dones.Get().(*progress.Done)
	defer dones.Put(d)
	for {
		r.untils.addDone(d)
		err := cmp.Or(r.Ended(), r.ep.Err()) // why a wait may never end
		if cond() {
			r.untils.dropDone(d)
			return nil
		}
		if err != nil {
			r.untils.dropDone(d)
			return err
		}
		r.ep.Progress().Wait(d) // whoever completes d has taken it off the list
	}
}

var dones = sync.Pool{New: func() any { return new(progress.Done) }}

// pollWaits are the calls of BlockUntil that wait. A poll completes all of them after its handlers. A call lists itself
// before it looks at its condition, a poll looks at the list after its handlers: one sees the other.
type pollWaits struct {
	ep   *am.Endpoint
	hook sync.Once
	n    atomic.Int32 // length of list

	mu   sync.Mutex // nothing is taken under it
	list []*progress.Done
}

// addDone lists a caller's d. The first one puts the hook into polls, which costs nothing before.
func (u *pollWaits) addDone(d *progress.Done) {
	u.hook.Do(func() {
		u.ep.AsPoller(func() { _ = u.ep.Attach(am.Layer{Name: "rank", Tick: u.wake}) }) // claims nothing that can be taken
	})
	u.ep.Progress().Begin(d)
	u.mu.Lock()
	u.list = append(u.list, d)
	u.n.Store(int32(len(u.list)))
	u.mu.Unlock()
}

// dropDone takes d off the list, or waits until whoever has done so has completed it.
func (u *pollWaits) dropDone(d *progress.Done) {
	u.mu.Lock()
	i := slices.Index(u.list, d)
	if i >= 0 {
		u.list = slices.Delete(u.list, i, i+1)
		u.n.Store(int32(len(u.list)))
		d.Finish()
	}
	u.mu.Unlock()
	for i < 0 && !d.Ready() {
		runtime.Gosched()
	}
}

// wake makes all waiting calls of BlockUntil evaluate their conditions again. w is the worker that runs wake, nil
// outside of a worker. Polls call it as their Tick. The end of the rank calls it, too.
func (u *pollWaits) wake(w *fult.Worker) {
	if u.n.Load() == 0 {
		return
	}
	u.mu.Lock()
	list := u.list
	u.list = nil
	u.n.Store(0)
	u.mu.Unlock()
	for _, d := range list {
		d.Complete(w)
	}
	u.mu.Lock()
	if u.list == nil { // nobody has come meanwhile
		u.list = list[:0]
	}
	u.mu.Unlock()
}
