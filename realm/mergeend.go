package realm

import (
	"sync"

	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// earlyEnd is the end of a merger before all of its events have triggered. Whoever has to know what those become, as a
// release that depends on the merger, waits for rest.
type earlyEnd struct {
	rt   *Runtime
	rest event.ID // triggers once all events have; 0: none was left

	mu      sync.Mutex // guards what follows; nothing is taken under it
	refused *event.Refused
	lost    *event.Poison // of an event whose outcome is not known
	rests   []Event       // of poisons that came early themselves
}

var nothingLeft earlyEnd

// newEarlyEnd is an end with or without events that are left.
func (rt *Runtime) newEarlyEnd(left bool) *earlyEnd {
	if !left {
		return &nothingLeft
	}
	return &earlyEnd{rt: rt, rest: rt.ev.NewEvent()}
}

// poisonMerger is why for the merger, which it ends.
func (x *earlyEnd) poisonMerger(why *event.Poison) *event.Poison {
	if x.rest == 0 {
		return why
	}
	x.addPoison(why)
	return why.Before(x.rest)
}

// forgo ends x, which has not become the end of a merger.
func (x *earlyEnd) forgo(k *events.Cascade) {
	if x.rest != 0 {
		k.Trigger(x.rest, nil)
	}
}

// addPoison notes the poison of another event.
func (x *earlyEnd) addPoison(why *event.Poison) {
	if x.rest == 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.refused = x.refused.Join(why.Refused)
	if why.Errors&event.Lost != 0 {
		x.lost = why
	}
	if why.Rest != 0 {
		x.rests = append(x.rests, Event(why.Rest))
	}
}

// endEarly triggers rest, since all events have triggered, and all that they were to wait for.
func (x *earlyEnd) endEarly(k *events.Cascade) {
	rests := x.rests
	x.rests = nil
	if _, n := distinct(rests); n > 0 {
		m := x.rt.newMerger(n, false)
		m.early.Store(x)
		m.gather(k, rests)
		return
	}
	if x.refused == nil && x.lost == nil {
		k.Trigger(x.rest, nil)
		return
	}
	why := &event.Poison{Rank: int32(x.rt.ev.Self), Text: "what a merge was to wait for", Refused: x.refused}
	k.Trigger(x.rest, why.Join(x.lost).Before(0))
}

// afterAll is an event that triggers once all of rests have, for the Rest of a poison.
func (rt *Runtime) afterAll(rests []Event) event.ID {
	only, n := distinct(rests)
	if n <= 1 {
		return event.ID(only)
	}
	x := rt.newEarlyEnd(true)
	x.rests = rests
	rest := x.rest
	k := rt.ev.BeginCascade(nil)
	x.endEarly(k)
	k.EndCascade(events.CallBudget)
	return rest
}

// poisonBefore is why for what is poisoned before rest has triggered.
func (rt *Runtime) poisonBefore(why *event.Poison, rest event.ID) *event.Poison {
	switch {
	case rest == 0:
		return why
	case why.Rest != 0:
		rest = rt.afterAll([]Event{Event(why.Rest), Event(rest)})
	}
	return why.Before(rest)
}
