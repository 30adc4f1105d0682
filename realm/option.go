package realm

// Option says more about an operation: After, Priority, IgnoreFaults.
type Option struct {
	kind     optionKind
	after    []Event
	priority int32
}

type optionKind uint8

const (
	optionAfter optionKind = iota
	optionPriority
	optionIgnore
)

// After has an operation begin when all of events have triggered. If one of them is poisoned, the operation is not
// done, and its event is poisoned.
func After(events ...Event) Option { return Option{kind: optionAfter, after: events} }

// Priority has a task go before all others of its processor that are ready and have a lower priority. It is 0 if not
// set.
func Priority(p int32) Option { return Option{kind: optionPriority, priority: p} }

// IgnoreFaults has an operation begin even if its precondition is poisoned.
func IgnoreFaults() Option { return Option{kind: optionIgnore} }

// terms are what the options of an operation amount to.
type terms struct {
	after    Event
	priority int32
	ignore   bool
}

// termsOf reads options. If all events to wait for are those of one option, they are several, not merged.
func (rt *Runtime) termsOf(opts []Option) (x terms, several []Event) {
	x.ignore = ignoring(opts)
	for i := range opts {
		switch o := &opts[i]; {
		case o.kind == optionPriority:
			x.priority = o.priority
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

func ignoring(opts []Option) bool {
	for i := range opts {
		if opts[i].kind == optionIgnore {
			return true
		}
	}
	return false
}
