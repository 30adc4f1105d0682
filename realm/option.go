package realm

// Option says more about an operation: After, Priority, IgnoreFaults, Profile, Atomically.
type Option struct {
	kind   optionKind
	number int32 // the priority, or the number of a profiler: a pointer here would have the slice allocated
	after  []Event
}

type optionKind uint8

const (
	optionAfter optionKind = iota
	optionPriority
	optionIgnore
	optionProfile
	optionAtomic
)

// After delays an operation until all of events have triggered. If one of them is poisoned, the operation is not
// done, and its event is poisoned.
func After(events ...Event) Option { return Option{kind: optionAfter, after: events} }

// Priority sets the priority of a task; it is 0 if not set. The task goes before those that are ready with a lower one
// and have not begun. These are tasks of its processor and of the processor's groups. Among equals, tasks of the
// processor go before those of its groups. A task that has waited and can go on goes before all that have not begun,
// whatever their priority; among those that have waited, the priority counts.
func Priority(p int32) Option { return Option{kind: optionPriority, number: p} }

// IgnoreFaults lets an operation begin even if its precondition is poisoned.
func IgnoreFaults() Option { return Option{kind: optionIgnore} }

// Profile has p, a profiler of the rank that calls, told what becomes of the operation, and when. With nil nobody is
// told.
func Profile(p *Profiler) Option {
	if p == nil {
		return Option{kind: optionProfile}
	}
	return Option{kind: optionProfile, number: int32(p.id)}
}

// Atomically has Reduce apply each reduction atomically, so that it may meet others of its kind in the same instance:
// those of other ranks, and those of tasks by a target in mode AtomicReductions. It is Realm's inexclusive reduction.
// The data have 4 or 8 bytes. A rank that reaches the memory of the instance applies there itself.
func Atomically() Option { return Option{kind: optionAtomic} }

// opOptions are what the options of most operations amount to. A fifth field would keep them in memory, which costs
// each spawn 6 ns.
type opOptions struct {
	after    Event
	priority int32
	ignore   bool
	profiler int32 // its number; 0: none
}

// termsOf reads options. If all events to wait for are those of one option, they are several, not merged.
func (rt *Runtime) termsOf(opts []Option) (x opOptions, several []Event) {
	x.ignore = ignoring(opts)
	for i := range opts {
		switch o := &opts[i]; {
		case o.kind == optionPriority:
			x.priority = o.number
		case o.kind == optionProfile:
			x.profiler = o.number
		case o.kind != optionAfter:
		case x.after == NoEvent && several == nil:
			several = o.after
		default:
			x.after = rt.both(rt.both(x.after, several, x.ignore), o.after, x.ignore)
			several = nil
		}
	}
	return x, several
}

// both merges e and events.
func (rt *Runtime) both(e Event, events []Event, ignore bool) Event {
	if len(events) == 0 {
		return e
	}
	if e == NoEvent && len(events) == 1 {
		return events[0]
	}
	m := rt.merge(events, ignore)
	if e == NoEvent {
		return m
	}
	return rt.merge([]Event{e, m}, ignore)
}

func ignoring(opts []Option) bool { return has(opts, optionIgnore) }

// modeOf is the mode of a reduction with these options.
func modeOf(opts []Option) ReductionMode {
	if has(opts, optionAtomic) {
		return AtomicReductions
	}
	return ExclusiveReductions
}

// has tells whether an option of that kind is among opts.
func has(opts []Option, kind optionKind) bool {
	for i := range opts {
		if opts[i].kind == kind {
			return true
		}
	}
	return false
}

// profilerOf is the number of the profiler among the options; 0: none.
func profilerOf(opts []Option) int32 {
	for i := range opts {
		if opts[i].kind == optionProfile {
			return opts[i].number
		}
	}
	return 0
}
