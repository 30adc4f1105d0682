package realm

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"sync"
	"unsafe"

	"github.com/golci/golci/comm/rma"
	"github.com/golci/golci/internal/realm/event"
	"github.com/golci/golci/internal/realm/space"
	"github.com/golci/golci/internal/request"
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

// Field is a value that every point of an instance has.
type Field struct {
	f     space.Field
	typ   reflect.Type
	wrong error
}

// FieldOf is a field of that name with values of type T, which must not hold pointers, nor strings, maps and the like.
func FieldOf[T any](name string) Field {
	t := reflect.TypeFor[T]()
	f := Field{f: space.Field{Name: name, Size: int64(t.Size()), Align: int64(t.Align())}, typ: t}
	if !pointerFree(t) {
		f.wrong = fmt.Errorf("%w: field %q of type %v holds pointers", ErrArgument, name, t)
	}
	return f
}

// Order is how the elements of an instance lie in memory.
type Order uint8

// Orders. In both the last coordinate moves fastest.
const (
	SOA Order = iota // structure of arrays: each field has an array of its own
	AOS              // array of structures: the fields of a point lie together
)

// InstanceID names an instance on every rank. It is a number that may be compared, stored and sent; 0 names none.
type InstanceID uint64

// Rank is the rank that the instance belongs to.
func (id InstanceID) Rank() int { return int(id >> 40 & 0xFFFF) }

func (id InstanceID) index() int { return int(id >> 20 & (1<<20 - 1)) }

// String names rank, index and generation.
func (id InstanceID) String() string {
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
	gens   []uint64 // of the places of all
	spare  []int    // places that are free
	remote map[InstanceID]*remoteInstance

	scratch []byte // for the chunk of a reduction; owned by the tasks of the runtime on the utility processor

	outs request.Numbers[outgoing]
	ins  request.Numbers[incoming]
}

// instance is one of this rank. It does not change.
type instance struct {
	id     InstanceID
	layout *space.Layout
	types  []reflect.Type
	mem    []byte
	off    int64 // in its store
	store  *store
	in     Memory
	shared bool // its memory is registered
}

// memory is the memory that in is in; 0 for nil.
func (in *instance) memory() Memory {
	if in == nil {
		return 0
	}
	return in.in
}

// NewInstance makes an instance in a memory of this rank; its bytes are zero. It does not block. Errors: ErrMemory, at
// once, if there is no room; ErrArgument for a memory of another rank or one that does not exist, fields that cannot be
// moved as bytes, and a bad space.
func NewInstance(at Site, m Memory, s Space, order Order, fields ...Field) (Instance, error) {
	rt, _ := at.site()
	in, _, err := rt.newInstance(m, s, order, fields)
	if err != nil {
		return Instance{}, rt.errorf("NewInstance", "%w", err)
	}
	return Instance{rt, in.id}, nil
}

// NewArray is NewInstance of one field without a name.
func NewArray[T any](at Site, m Memory, s Space) (Instance, error) {
	return NewInstance(at, m, s, SOA, FieldOf[T](""))
}

// newInstance makes an instance. size is how many bytes it has, or would have had.
func (rt *Runtime) newInstance(m Memory, s Space, order Order, fields []Field) (in *instance, size int64, err error) {
	in = &instance{shared: m.Kind() == Registered, in: m}
	if in.store = rt.storeOf(m); in.store == nil {
		return nil, 0, fmt.Errorf("%w: rank %d has no %v", ErrArgument, rt.rank, m)
	}
	var list []space.Field
	for _, f := range fields {
		if f.wrong != nil || f.typ == nil {
			return nil, 0, errors.Join(f.wrong, ErrArgument)
		}
		list, in.types = append(list, f.f), append(in.types, f.typ)
	}
	if order == AOS {
		in.layout, err = space.AOS(s, list)
	} else {
		in.layout, err = space.SOA(s, list)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrArgument, err)
	}
	size = in.layout.Size()
	if in.mem, in.off, err = in.store.take(size, in.layout.Align()); err != nil {
		return nil, size, fmt.Errorf("%w, in the %v", err, m)
	}
	if !rt.data.add(in, rt.rank) {
		in.store.give(in.off, size)
		return nil, size, fmt.Errorf("%w: too many instances", ErrMemory)
	}
	return in, size, nil
}

// add gives in a number. False if all are taken.
func (d *data) add(in *instance, rank int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
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
	if i := id.index(); id>>56 == 0x0C && id.Rank() == rt.rank && i < len(d.all) && d.all[i] != nil && d.all[i].id == id {
		return d.all[i], nil
	}
	return nil, fmt.Errorf("%w: rank %d has no %v; it may have been destroyed", ErrArgument, rt.rank, id)
}

// destroy frees in. Its number is not used again.
func (d *data) destroy(in *instance) {
	d.mu.Lock()
	i := in.id.index()
	d.all[i] = nil
	if d.gens[i] < 1<<20-1 {
		d.spare = append(d.spare, i)
	}
	d.mu.Unlock()
	in.store.give(in.off, in.layout.Size())
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

// ViewOf is the view of the field of that name. Errors: ErrArgument for an instance of another rank, a field that does
// not exist, and another type than that of FieldOf.
func ViewOf[T any](in Instance, field string) (View[T], error) {
	if in.rt == nil {
		return View[T]{}, fmt.Errorf("realm: ViewOf: %w: an Instance that was not created", ErrArgument)
	}
	x, err := in.rt.local(in.id)
	if err != nil {
		return View[T]{}, in.rt.errorf("ViewOf", "%w", err)
	}
	f := x.layout.Field(field)
	if f < 0 || x.types[f] != reflect.TypeFor[T]() {
		return View[T]{}, in.rt.errorf("ViewOf", "%w: %v has no field %q of type %v", ErrArgument, in.id, field,
			reflect.TypeFor[T]())
	}
	v := View[T]{in: x}
	if v.track, err = x.layout.Track(x.layout.Space(), f); err != nil {
		return View[T]{}, in.rt.errorf("ViewOf", "%w", err)
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
	wait   []func(k *cascade, why *event.Poison)
}
