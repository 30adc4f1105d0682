package realm

import (
	"encoding/binary"
	"fmt"

	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
	"github.com/golci/golci/realm/internal/fault"
	"github.com/golci/golci/realm/internal/space"
)

// maxRemote is how many instances of other ranks are known at a time.
const maxRemote = 4096

// withRemote calls f with what is known of an instance of another rank, which it asks first if that is nothing. f runs
// in this call or in a later poll.
func (rt *Runtime) withRemote(
	k *events.Cascade, id InstanceID, f func(k *events.Cascade, r *remoteInstance, why *event.Poison),
) {
	d := &rt.data
	d.mu.Lock()
	r := d.remote[id]
	if r != nil && r.layout != nil {
		d.mu.Unlock()
		f(k, r, nil)
		return
	}
	ask := r == nil
	if ask {
		r = d.newRemote(id)
	}
	r.wait = append(r.wait, func(k *events.Cascade, why *event.Poison) { f(k, r, why) })
	d.mu.Unlock()
	if ask {
		rt.askLayout(k, id, r)
	}
}

// knows tells whether withRemote runs its function in the call.
func (rt *Runtime) knows(id InstanceID) bool {
	rt.data.mu.Lock()
	defer rt.data.mu.Unlock()
	r := rt.data.remote[id]
	return r != nil && r.layout != nil
}

// newRemote makes room for what is to be known of id. Which instance is forgotten for it is left to chance.
func (d *data) newRemote(id InstanceID) *remoteInstance {
	if d.remote == nil {
		d.remote = make(map[InstanceID]*remoteInstance)
	}
	for old, r := range d.remote {
		if len(d.remote) < maxRemote {
			break
		}
		if r.layout != nil {
			delete(d.remote, old)
		}
	}
	r := new(remoteInstance)
	d.remote[id] = r
	return r
}

func (rt *Runtime) askLayout(k *events.Cascade, id InstanceID, r *remoteInstance) {
	told := func(k *events.Cascade, why *event.Poison) {
		rt.data.mu.Lock()
		if why == nil && r.layout == nil {
			why = rt.ev.FaultPoison(fmt.Errorf("%w: rank %d has told nothing of %v", fault.ErrMalformed, id.Rank(), id))
		}
		wait := r.wait
		r.wait = nil
		if why != nil {
			delete(rt.data.remote, id)
		}
		rt.data.mu.Unlock()
		for _, f := range wait {
			f(k, why)
		}
	}
	o := &events.Outgoing{Peer: id.Rank(), Done: told}
	o.Body = func(k *events.Cascade, b []byte) error {
		l, rest, err := space.DecodeLayout(b)
		if err != nil || len(rest) != 8 {
			return fmt.Errorf("%w: layout of %v, %d bytes: %w", fault.ErrMalformed, id, len(b), err)
		}
		off := int64(binary.LittleEndian.Uint64(rest))
		if off < -1 || off > 0 && off%instanceAlign != 0 {
			return fmt.Errorf("%w: %v lies at %d", fault.ErrMalformed, id, off)
		}
		rt.data.mu.Lock()
		r.layout, r.off = l, off
		rt.data.mu.Unlock()
		told(k, nil)
		return nil
	}
	if ref, ok := rt.ev.ExpectAnswer(k, o); ok {
		rt.ev.SendParcel(k, id.Rank(), events.ParcelAsk, ref, binary.LittleEndian.AppendUint64(nil, uint64(id)))
	}
}

// onAskLayout: a rank wants to know an instance of this one.
func (rt *Runtime) onAskLayout(k *events.Cascade, src int, ref uint64, b []byte) error {
	if len(b) != 8 {
		return fault.ErrMalformed
	}
	in, err := rt.local(InstanceID(binary.LittleEndian.Uint64(b)))
	if err != nil {
		rt.ev.TellDone(src, ref, err)
		return nil
	}
	off := int64(-1)
	if in.shared {
		off = in.off
	}
	told := binary.LittleEndian.AppendUint64(in.layout.Append(nil), uint64(off))
	rt.ev.SendParcel(k, src, events.ParcelLayout, ref, told)
	return nil
}
