package realm

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"sync"
	"unsafe"

	"github.com/golci/golci/am/rma"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
	"github.com/golci/golci/realm/internal/space"
)

// Space is a set of points of one to three dimensions. See Range, Grid, Rect, Points and Indices.
type Space = space.Space

// Point is the coordinates of a point; those beyond the dimensions of its space are 0.
type Point = space.Point

// Row is points that follow each other in the last dimension.
type Row = space.Row

// Pair names a field of the destination and one of the source, by number.
type Pair = space.Pair

// Range is the points from lo up to, but not including, hi.
func Range(lo, hi int64) Space { return space.Range(lo, hi) }

// Grid is the points from 0 up to n in each dimension.
func Grid(n ...int64) Space { return space.Grid(n...) }

// Rect is the points from lo up to, but not including, hi, in each dimension.
func Rect(lo, hi []int64) Space { return space.Rect(lo, hi) }

// Points is the space of dim dimensions that has the points of all rows.
func Points(dim int, rows ...Row) Space { return space.Points(dim, rows...) }

// Indices is the space of one dimension that has the points of list.
func Indices(list ...int64) Space { return space.Indices(list...) }

// InstanceID names an instance on every rank. It is a number that may be compared, stored and sent; 0 names none.
type InstanceID uint64

// Rank is the rank that the instance belongs to.
func (id InstanceID) Rank() int { return int(id >> 40 & 0xFFFF) }

func (id InstanceID) index() int { return int(id >> 20 & (1<<20 - 1)) }

// valid tells whether id can name an instance.
func (id InstanceID) valid() bool { return id>>56 == 0x0C || id&created != 0 }

// String names rank, index and generation; of one from CreateInstance its rank, the creator and what it was of it.
func (id InstanceID) String() string {
	if id&created != 0 {
		return fmt.Sprintf("instance %d, %d of rank %d", id.Rank(), id>>56&0x7F<<24|id&(1<<24-1), id>>24&0xFFFF)
	}
	return fmt.Sprintf("instance %d.%d.%d", id.Rank(), id.index(), id&(1<<20-1))
}

// On binds the number to a runtime.
func (id InstanceID) On(at Site) Instance {
	rt, _ := at.site()
	return Instance{rt, id}
}

// Instance is data: fields of the points of a space, in a memory. Use View for access on its own rank, and Copy, Fill
// and the like on every rank. The zero Instance is of no use.
type Instance struct {
	rt *Runtime
	id InstanceID
}

// ID is the number to send to other ranks.
func (in Instance) ID() InstanceID { return in.id }

// data is what the runtime has of instances and transfers.
type data struct {
	stores [memoryKinds]*store
	rma    *rma.Memory // of registered memory; nil without
	mapped sync.Map    // rank to its segment, []byte; nil where it cannot be reached

	mu     sync.Mutex // guards what follows; nothing is taken under it
	all    []*instance
	gens   []uint64                 // of the places of all
	spare  []int                    // places that are free
	made   map[InstanceID]*instance // those from CreateInstance
	named  int64                    // how many CreateInstance has numbered
	remote map[InstanceID]*remoteInstance

	scratch []byte // for the chunk of a reduction; owned by the tasks of the runtime on the utility processor
}

// instance is one of this rank. It does not change.
type instance struct {
	id     InstanceID
	layout *space.Layout
	types  []reflect.Type // nil: it was created by a message
	shapes []string       // of the fields then
	mem    []byte
	off    int64  // in its store
	store  *store // nil: the memory is of the program
	in     Memory // 0: none
	shared bool   // its memory is registered
}

// memory is the memory that in is in; 0 for nil.
func (in *instance) memory() Memory {
	if in == nil {
		return 0
	}
	return in.in
}

// NewInstance makes an instance in a memory of this rank; its bytes are zero. It does not block. It is Realm's
// create_instance. Errors: ErrMemory, at once, if there is no room. ErrArgument: a memory of another rank or one
// that does not exist; fields that cannot be moved as bytes; a bad space; a layout that does not fit them.
func NewInstance(at Site, m Memory, s Space, layout Layout, fields ...Field) (Instance, error) {
	rt, _ := at.site()
	in, err := newInstance(s, layout, fields)
	if err == nil {
		err = rt.settleInstance(in, m)
	}
	if err != nil {
		return Instance{}, rt.ev.CallErrorf("NewInstance", "%w", err)
	}
	return Instance{rt, in.id}, nil
}

// NewArray is NewInstance of one field without a name.
func NewArray[T any](at Site, m Memory, s Space) (Instance, error) {
	return NewInstance(at, m, s, SOA, FieldOf[T](""))
}

// NewExternal makes an instance of memory that the program has: mem, whose elements hold no pointers. It is Realm's
// create_external_instance. Its bytes stay as they are, and belong to no Memory. Until the instance is destroyed, mem
// must not be used while an operation uses the instance. It does not block. Errors: ErrArgument as of NewInstance, and
// for memory that is too small or not aligned for the layout.
func NewExternal[T any](at Site, mem []T, s Space, layout Layout, fields ...Field) (Instance, error) {
	rt, _ := at.site()
	var in *instance
	err := FieldOf[T]("memory").wrong
	if err == nil {
		in, err = newInstance(s, layout, fields)
	}
	if err == nil {
		in.mem = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(mem))), uintptr(len(mem))*unsafe.Sizeof(*new(T)))
		err = rt.enclose(in)
	}
	if err != nil {
		return Instance{}, rt.ev.CallErrorf("NewExternal", "%w", err)
	}
	return Instance{rt, in.id}, nil
}

// enclose gives in, which has memory of the program, a number.
func (rt *Runtime) enclose(in *instance) error {
	size, off := in.layout.Size(), uintptr(unsafe.Pointer(unsafe.SliceData(in.mem)))%uintptr(in.layout.Align())
	if int64(len(in.mem)) < size || size > 0 && off != 0 {
		return fmt.Errorf("%w: memory of %d bytes, %d bytes off alignment; the layout needs %d bytes, alignment %d",
			ErrArgument, len(in.mem), off, size, in.layout.Align())
	}
	if !rt.data.addInstance(in, rt.ev.Self) {
		return fmt.Errorf("%w: too many instances", ErrMemory)
	}
	return nil
}

// newInstance makes an instance that has no memory yet.
func newInstance(s Space, layout Layout, fields []Field) (*instance, error) {
	if layout == nil {
		return nil, fmt.Errorf("%w: no layout", ErrArgument)
	}
	in := new(instance)
	var list []space.Field
	for _, f := range fields {
		if f.wrong != nil || f.typ == nil {
			return nil, errors.Join(f.wrong, ErrArgument)
		}
		list, in.types = append(list, f.f), append(in.types, f.typ)
	}
	var err error
	if in.layout, err = layout.layout(s, list); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArgument, err)
	}
	return in, nil
}

// settleInstance gives in a place in m, and a number.
func (rt *Runtime) settleInstance(in *instance, m Memory) (err error) {
	in.in, in.shared = m, m.Kind() == Registered
	if in.store = rt.storeOf(m); in.store == nil {
		return fmt.Errorf("%w: rank %d has no %v", ErrArgument, rt.ev.Self, m)
	}
	if in.mem, in.off, err = in.store.takeBytes(in.layout.Size(), in.layout.Align()); err != nil {
		return fmt.Errorf("%w, in the %v", err, m)
	}
	if !rt.data.addInstance(in, rt.ev.Self) {
		in.store.giveBytes(in.off, in.layout.Size())
		return fmt.Errorf("%w: too many instances", ErrMemory)
	}
	return nil
}

// addInstance gives in a number, if it has none. False if all are taken, or that is.
func (d *data) addInstance(in *instance, rank int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if in.id != 0 {
		if d.made == nil {
			d.made = make(map[InstanceID]*instance)
		}
		taken := d.made[in.id] != nil
		if !taken {
			d.made[in.id] = in
		}
		return !taken
	}
	var i int
	if n := len(d.spare); n > 0 {
		i, d.spare = d.spare[n-1], d.spare[:n-1]
	} else {
		if len(d.all) == 1<<20 {
			return false
		}
		i = len(d.all)
		d.all, d.gens = append(d.all, nil), append(d.gens, 0)
	}
	d.gens[i]++
	d.all[i] = in
	in.id = InstanceID(0x0C)<<56 | InstanceID(rank)<<40 | InstanceID(i)<<20 | InstanceID(d.gens[i])
	return true
}

// local is an instance of this rank.
func (rt *Runtime) local(id InstanceID) (*instance, error) {
	d := &rt.data
	d.mu.Lock()
	defer d.mu.Unlock()
	if in := d.made[id]; in != nil {
		return in, nil
	}
	i := id.index()
	if id>>56 == 0x0C && id.Rank() == rt.ev.Self && i < len(d.all) && d.all[i] != nil && d.all[i].id == id {
		return d.all[i], nil
	}
	return nil, fmt.Errorf("%w: rank %d has no %v; it may have been destroyed", ErrArgument, rt.ev.Self, id)
}

// destroy frees in. Its number is not used again.
func (d *data) destroy(in *instance) {
	d.mu.Lock()
	if i := in.id.index(); in.id&created != 0 {
		delete(d.made, in.id)
	} else {
		d.all[i] = nil
		if d.gens[i] < 1<<20-1 {
			d.spare = append(d.spare, i)
		}
	}
	d.mu.Unlock()
	if in.store != nil {
		in.store.giveBytes(in.off, in.layout.Size())
	}
}

// Destroy frees an instance of any rank once after has triggered. Whatever uses it must have ended by then. It does not
// block. The result triggers when it is done.
func Destroy(at Site, in Instance, opts ...Option) Event {
	return startJob(at, &job{kind: jobDestroy, dst: in.id}, in.id, opts)
}

// View is the values of one field of an instance of this rank. It is valid until the instance is destroyed.
type View[T any] struct {
	in     *instance
	track  *space.Track
	base   unsafe.Pointer
	lo     int64
	count  int64
	linear bool
}

// ViewOf is the view of the field of that name. It does not block. Errors: ErrArgument for an instance of another rank,
// a field that does not exist, and another type than that of FieldOf.
func ViewOf[T any](in Instance, field string) (View[T], error) {
	if in.rt == nil {
		return View[T]{}, fmt.Errorf("realm: ViewOf: %w: an Instance that was not created", ErrArgument)
	}
	x, err := in.rt.local(in.id)
	if err != nil {
		return View[T]{}, in.rt.ev.CallErrorf("ViewOf", "%w", err)
	}
	f := x.layout.Field(field)
	if f < 0 || !x.typed(f, reflect.TypeFor[T]()) {
		return View[T]{}, in.rt.ev.CallErrorf("ViewOf", "%w: %v has no field %q of type %v", ErrArgument, in.id, field,
			reflect.TypeFor[T]())
	}
	v := View[T]{in: x}
	if v.track, err = x.layout.Track(x.layout.Space(), f); err != nil {
		return View[T]{}, in.rt.ev.CallErrorf("ViewOf", "%w", err)
	}
	off, linear := v.track.Linear()
	lo, _ := x.layout.Space().Bounds()
	v.base, v.lo, v.count = unsafe.Add(unsafe.Pointer(unsafe.SliceData(x.mem)), off), lo[0], v.track.Count()
	v.linear = linear && x.layout.Space().Dim() == 1 && x.layout.Space().Dense()
	return v, nil
}

// At is the value of the point with coordinate i, in a space of one dimension. It panics, as an index out of range
// does, if there is none.
func (v *View[T]) At(i int64) *T {
	if n := i - v.lo; v.linear && uint64(n) < uint64(v.count) {
		return (*T)(unsafe.Add(v.base, n*v.track.Step()))
	}
	return v.AtPoint(Point{i})
}

// AtPoint is At in a space of any dimension.
func (v *View[T]) AtPoint(p Point) *T {
	n := v.in.layout.Space().Index(p)
	if n < 0 {
		panic(fmt.Sprintf("realm: there is no point %v in the %v", p, v.in.layout.Space()))
	}
	off, _ := v.track.Find(n)
	return (*T)(unsafe.Pointer(&v.in.mem[off]))
}

// Slice is all values, in the order of the points, if they lie in one piece; else nil.
func (v *View[T]) Slice() []T {
	if v.track == nil { // nobody made v
		return nil
	}
	_, linear := v.track.Linear()
	if !linear || v.track.Step() != int64(unsafe.Sizeof(*new(T))) || v.count > math.MaxInt {
		return nil
	}
	return unsafe.Slice((*T)(v.base), v.count)
}

// remoteInstance is what is known of an instance of another rank.
type remoteInstance struct {
	layout *space.Layout
	off    int64 // in the registered memory of its rank; -1 if it is elsewhere
	wait   []func(k *events.Cascade, why *event.Poison)
}
