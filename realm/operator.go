package realm

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/golci/golci/realm/internal/reduce"
	"github.com/golci/golci/realm/internal/space"
)

// operator is what is known of a registered reduction operator.
type operator struct {
	op   any // the *Op
	onto func(mem []byte, l *space.Layout, f int, s Space, mode ReductionMode) (replayer, error)
}

// replayer applies chunks of reductions.
type replayer interface{ Replay(chunk []byte) error }

// operatorPrefix stands before the name of an operator in the registry.
const operatorPrefix = "operator "

// RegisterOp makes op known under a name, so that reductions by it can be applied on any rank, and returns it with that
// name. It is Realm's register_reduction. It is called where Register is. All ranks register the same operators, with
// the same types; the start compares them. L and R have no pointers. A second registration of a name panics, as do
// types with pointers.
func RegisterOp[L, R any](name string, op *Op[L, R]) *Op[L, R] {
	l, r := reflect.TypeFor[L](), reflect.TypeFor[R]()
	if !pointerFree(l) || !pointerFree(r) {
		panic(fmt.Sprintf("realm: RegisterOp: %q reduces %v into %v, which have pointers", name, r, l))
	}
	named := *op
	named.Name = name
	d := &registration{
		name: operatorPrefix + name, layout: layoutOf(l) + " by " + layoutOf(r),
		run: func(*Ctx, *task) error { return errors.New("an operator is no task") },
	}
	d.operator = &operator{op: &named}
	d.operator.onto = func(mem []byte, l *space.Layout, f int, s Space, mode ReductionMode) (replayer, error) {
		t, err := named.Onto(mem, l, f, s, mode)
		if err != nil {
			return nil, err
		}
		return t, nil
	}
	d.enterRegistry()
	return &named
}

// operatorOf is the registered operator of that name; nil if there is none.
func operatorOf(name string) *operator {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	if d := registry.name[operatorPrefix+name]; d != nil {
		return d.operator
	}
	return nil
}

// fieldTarget makes field f of a layout in mem the target of reductions by the operator of that name into points of s.
func (rt *Runtime) fieldTarget(
	mem []byte, l *space.Layout, f int, name string, s Space, m ReductionMode,
) (replayer, error) {
	o := operatorOf(name)
	if o == nil {
		return nil, fmt.Errorf("%w: rank %d has no operator %q", ErrArgument, rt.ev.Self, name)
	}
	return o.onto(mem, l, f, s, m)
}

// ReductionTarget is one field of an instance of this rank, for tasks that apply reductions themselves. Each task has
// one of its own.
type ReductionTarget[L, R any] = reduce.Target[L, R]

// TargetOf makes the field of that name the target of reductions by op into points of s: FoldInstance.Apply and
// ListInstance.Apply take it. In mode AtomicReductions others may reduce into the instance at once, if all of them do
// so atomically; else it is for the task alone. Errors: ErrArgument for an instance of another rank, and for a field,
// points or a mode that it cannot be.
func TargetOf[L, R any](in Instance, field string, op *Op[L, R], s Space, mode ReductionMode) (*ReductionTarget[L, R],
	error,
) {
	if in.rt == nil {
		return nil, fmt.Errorf("realm: TargetOf: %w: an Instance that was not created", ErrArgument)
	}
	x, err := in.rt.local(in.id)
	switch {
	case err != nil:
	case op == nil:
		err = fmt.Errorf("%w: no operator", ErrArgument)
	default:
		var t *ReductionTarget[L, R]
		if t, err = op.Onto(x.mem, x.layout, x.layout.Field(field), s, mode); err == nil {
			return t, nil
		}
		err = fmt.Errorf("%w: %w", ErrArgument, err)
	}
	return nil, in.rt.ev.CallErrorf("TargetOf", "%w", err)
}
