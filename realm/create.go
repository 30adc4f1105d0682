package realm

import (
	"fmt"
	"reflect"

	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
	"github.com/golci/golci/realm/internal/space"
)

// CreateInstance is NewInstance in a memory of any rank, once its precondition (After) has triggered. The instance has
// its number at once, so that operations on it can be given, after the result. It does not block. What is wrong poisons
// the result: ErrMemory, with the rank and the bytes, if there is no room at that time, and ErrArgument as of
// NewInstance. On another rank a field is told by the layout of its type: ViewOf takes any type that lies in memory as
// the one of FieldOf does.
func CreateInstance(at Site, m Memory, s Space, layout Layout, fields []Field, opts ...Option) (Instance, Event) {
	rt, _ := at.site()
	in, err := newInstance(s, layout, fields)
	if err == nil && (!m.possible() || m.Rank() >= rt.ev.Size) {
		err = fmt.Errorf("%w: there is no %v in this job of %d ranks", ErrArgument, m, rt.ev.Size)
	}
	id := InstanceID(0)
	if err == nil {
		id, err = rt.data.nameFor(m.Rank(), rt.ev.Self)
	}
	if err != nil {
		return Instance{}, rt.failedEvent(rt.ev.CallErrorf("CreateInstance", "%w", err))
	}
	j := &job{kind: jobCreate, dst: id, value: in.appendForm([]byte{byte(m.Kind())})}
	return Instance{rt, id}, startJob(at, j, id, opts)
}

// MemoryOf is the memory of that kind of a rank. Whether it exists is known there. For a number that no rank can have,
// it is 0, which names no memory.
func (rt *Runtime) MemoryOf(rank int, kind MemoryKind) Memory {
	if rank < 0 || rank >= event.MaxRanks {
		return 0
	}
	return makeMemory(rank, kind)
}

// Instances that another rank than their own may have created are numbered by their creator: bit 63 is set, and the
// number of the creation has 31 bits, 7 above the rank of the instance and 24 below that of the creator.
const (
	creations = 1 << 31
	created   = InstanceID(1) << 63
)

// nameFor is a number for an instance of rank owner.
func (d *data) nameFor(owner, creator int) (InstanceID, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.named == creations {
		return 0, fmt.Errorf("%w: rank %d has created %d instances", ErrMemory, creator, d.named)
	}
	n := InstanceID(d.named)
	d.named++
	return created | n>>24<<56 | InstanceID(owner)<<40 | InstanceID(creator)<<24 | n&(1<<24-1), nil
}

// appendForm appends what another rank needs to make in.
func (in *instance) appendForm(b []byte) []byte {
	for _, typ := range in.types {
		b = appendText(b, layoutOf(typ))
	}
	return in.layout.Append(appendText(b, "")) // no type has an empty layout
}

// create makes the instance id of this rank from what CreateInstance has written.
func (rt *Runtime) create(id InstanceID, b []byte) (*instance, error) {
	r := wire{b: b}
	m := makeMemory(rt.ev.Self, MemoryKind(r.nextBytes(1)[0]))
	in := &instance{id: id}
	for {
		shape := string(r.nextBytes(r.readCount(uint64(len(r.b)))))
		if shape == "" {
			break
		}
		in.shapes = append(in.shapes, shape)
	}
	l, rest, err := space.DecodeLayout(r.b)
	if r.bad || err != nil || len(rest) > 0 || len(l.Fields()) != len(in.shapes) ||
		id&created == 0 || id.Rank() != rt.ev.Self {
		return nil, fmt.Errorf("%w: the form of %v: %v", ErrArgument, id, err)
	}
	in.layout = l
	if err := rt.settleInstance(in, m); err != nil {
		return nil, err
	}
	return in, nil
}

// typed tells whether field f of in has values of type t.
func (in *instance) typed(f int, t reflect.Type) bool {
	if in.types != nil {
		return in.types[f] == t
	}
	return pointerFree(t) && in.shapes[f] == layoutOf(t)
}

// pushCreate makes the utility processor create the instance, since to clear its memory may take long.
func (j *job) pushCreate(k *events.Cascade) {
	j.rt.utility.pushTask(j.rt.newInternal(func(c *Ctx) error {
		k := &c.cascade
		if j.watch == nil {
			j.create(k)
		} else {
			log := &j.rt.ev.Log
			x := log.BeginPiece(j.watch)
			log.EndPiece(x, k.By, j.dst.Rank(), j.create(k))
		}
		k.RunWaiters(events.CallBudget)
		return nil
	}), k)
}

// create does the whole of j. It returns how many bytes the instance has.
func (j *job) create(k *events.Cascade) int64 {
	var err error
	if j.to, err = j.rt.create(j.dst, j.value); err == nil {
		j.done = j.to.layout.Size()
	}
	n := j.done
	j.endJob(k, err)
	return n
}
