package realm

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/golci/golci/internal/realm/reduce"
	"github.com/golci/golci/internal/realm/space"
)

// operator is what is known of a registered reduction operator.
type operator struct {
	op   any // the *Op
	onto func(mem []byte, l *space.Layout, f int, s Space) (replayer, error)
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
	d := &definition{
		name: operatorPrefix + name, layout: layoutOf(l) + " by " + layoutOf(r),
		run: func(*Ctx, *task) error { return errors.New("an operator is no task") },
	}
	d.operator = &operator{op: &named}
	d.operator.onto = func(mem []byte, l *space.Layout, f int, s Space) (replayer, error) {
		t, err := named.Onto(mem, l, f, s, reduce.Exclusive)
		if err != nil {
			return nil, err
		}
		return t, nil
	}
	d.enter()
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

// target makes field f of in the target of reductions by the operator of that name into points of s.
func (rt *Runtime) target(in *instance, f int, name string, s Space) (replayer, error) {
	o := operatorOf(name)
	if o == nil {
		return nil, fmt.Errorf("%w: rank %d has no operator %q", ErrArgument, rt.rank, name)
	}
	return o.onto(in.mem, in.layout, f, s)
}
