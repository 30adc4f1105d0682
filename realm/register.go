package realm

import (
	"bytes"
	"encoding"
	"encoding/gob"
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/golci/golci/realm/internal/barrier"
	"github.com/golci/golci/realm/internal/observe"
)

// Task is a registered function that takes arguments of type A.
type Task[A any] struct {
	def *registration
}

// registration is what is known of a registered task, reduction or operator.
type registration struct {
	name     string
	serial   int    // by the order of registration in this process
	layout   string // of the arguments
	size     uintptr
	plain    bool // the arguments have no pointers, and are copied as they lie in memory
	run      func(c *Ctx, t *task) error
	fold     barrier.Op // of a reduction, which is no task; else nil
	operator *operator  // of an operator, which is no task; else nil
}

// registry has what the program has registered. It is filled while packages are initialised.
var registry struct {
	mu   sync.Mutex
	all  []*registration // by serial
	name map[string]*registration
}

// Register makes f known under a name, as a task that may be spawned on any rank. It is to be called before the
// runtime starts, best where a package's variables are initialised. All ranks register the same tasks, with the same
// arguments; the start compares them.
//
// The arguments travel by value. A type without pointers is copied; another one is encoded by encoding/gob, at the
// cost that has. f gets a copy of its own. An error or a panic of f poisons the finish event of the task. A second
// registration of a name panics, as it can only be a mistake in the program.
func Register[A any](name string, f func(c *Ctx, args A) error) Task[A] {
	typ := reflect.TypeFor[A]()
	d := &registration{name: name, layout: layoutOf(typ), size: typ.Size(), plain: pointerFree(typ)}
	if d.plain {
		d.run = func(c *Ctx, t *task) error { return f(c, *(*A)(t.args())) }
	} else {
		d.run = func(c *Ctx, t *task) error {
			var a A
			if err := gob.NewDecoder(bytes.NewReader(t.large.encoded)).Decode(&a); err != nil {
				return fmt.Errorf("arguments: %w", err)
			}
			return f(c, a)
		}
	}
	d.enterRegistry()
	return Task[A]{d}
}

// enterRegistry puts d into the registry.
func (d *registration) enterRegistry() {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	if registry.name[d.name] != nil {
		panic(fmt.Sprintf("realm: %q is registered twice", d.name))
	}
	if registry.name == nil {
		registry.name = make(map[string]*registration)
	}
	d.serial = len(registry.all)
	registry.all = append(registry.all, d)
	registry.name[d.name] = d
}

// Name is the name that the task has been registered under; empty for one that has not been registered.
func (t Task[A]) Name() string {
	if t.def == nil {
		return ""
	}
	return t.def.name
}

// catalog is the registry as a runtime has found it: task numbers that travel are places in it.
type catalog struct {
	defs   []*registration // by name
	place  []int           // by serial
	digest uint64
}

func takeCatalog() *catalog {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	c := &catalog{defs: slices.Clone(registry.all), place: make([]int, len(registry.all))}
	slices.SortFunc(c.defs, func(a, b *registration) int { return strings.Compare(a.name, b.name) })
	for i, d := range c.defs {
		c.place[d.serial] = i
	}
	c.digest = c.sumOf()
	return c
}

// names are those of all, by place.
func (c *catalog) names() (all []string) {
	for _, d := range c.defs {
		all = append(all, d.name)
	}
	return all
}

// placeOf is the place of d; observe.Nowhere if it came after the start, or is nil.
func (c *catalog) placeOf(d *registration) int {
	if d == nil || d.serial >= len(c.place) {
		return observe.Nowhere
	}
	return c.place[d.serial]
}

// sumOf is the digest of all names and layouts.
func (c *catalog) sumOf() uint64 {
	h := fnv.New64a()
	for _, d := range c.defs {
		fmt.Fprintf(h, "%q %x\n", d.name, d.digest())
	}
	return h.Sum64()
}

// pointerFree tells whether values of type t can be copied as bytes.
func pointerFree(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return pointerFree(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !pointerFree(t.Field(i).Type) {
				return false
			}
		}
		return true
	case reflect.Chan, reflect.Func, reflect.Interface, reflect.Map, reflect.Pointer, reflect.Slice, reflect.String,
		reflect.UnsafePointer:
		return false
	}
	return true
}

// layoutOf describes a type as far as its bytes depend on it.
func layoutOf(t reflect.Type) string {
	switch {
	case !pointerFree(t):
		return "encoded " + shapeOf(t)
	case t.Kind() == reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), layoutOf(t.Elem()))
	case t.Kind() == reflect.Struct:
		var b strings.Builder
		for i := range t.NumField() {
			f := t.Field(i)
			fmt.Fprintf(&b, "%s@%d:%s ", f.Name, f.Offset, layoutOf(f.Type))
		}
		return fmt.Sprintf("{%s}%d", b.String(), t.Size())
	}
	return t.Kind().String()
}

// shape is the description of a type as far as encoding/gob sees it.
type shape struct {
	strings.Builder
	seen []reflect.Type // those that are described: each is once, however often the types refer to each other
}

func shapeOf(t reflect.Type) string {
	var s shape
	s.addType("", t)
	return s.String()
}

// addType describes a type, and the types that it is made of.
func (s *shape) addType(what string, t reflect.Type) {
	if i := slices.Index(s.seen, t); i >= 0 {
		fmt.Fprintf(s, "%s#%d", what, i)
		return
	}
	s.seen = append(s.seen, t)
	s.WriteString(what + t.String())
	if encodesItself(t) {
		return
	}
	switch t.Kind() {
	case reflect.Map:
		s.addType(" of ", t.Key())
		s.addType(" to ", t.Elem())
	case reflect.Pointer, reflect.Slice, reflect.Array:
		s.addType(" of ", t.Elem())
	case reflect.Struct:
		s.WriteString(" {")
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && isSent(f.Type) {
				s.addType(" "+f.Name+":", f.Type)
			}
		}
		s.WriteString(" }")
	default:
		fmt.Fprintf(s, " %v", t.Kind())
	}
}

// encodesItself tells whether methods of a type, or of a pointer to it, encode its values.
func encodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[gob.GobEncoder]()) || p.Implements(reflect.TypeFor[encoding.BinaryMarshaler]())
}

// isSent tells whether encoding/gob sends fields of a type.
func isSent(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() != reflect.Chan && t.Kind() != reflect.Func
}

// put stores arguments in t, by value.
func put[A any](t *task, d *registration, args *A) error {
	if d.plain {
		t.argsRoom(d.size)
		*(*A)(t.args()) = *args
		return nil
	}
	var b bytes.Buffer
	escapes := *args // a variable of this branch only, so that the other one needs no memory
	if err := gob.NewEncoder(&b).Encode(&escapes); err != nil {
		return fmt.Errorf("arguments of task %q: %w", d.name, err)
	}
	t.large = &large{encoded: b.Bytes()}
	return nil
}

// argBytes are the arguments of t as they travel.
func (t *task) argBytes() []byte {
	if !t.def.plain {
		return t.large.encoded
	}
	return unsafe.Slice((*byte)(t.args()), t.def.size)
}
