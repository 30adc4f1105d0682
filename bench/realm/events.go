package realm

import "github.com/golci/golci/realm"

// events are the measures of events on one rank.
func events() []measure {
	const g = "events"
	return []measure{
		{group: g, name: "create", columns: ns("create"), sizes: once, prepare: create},
		{group: g, name: "chain", columns: ns("chain-build", "chain"), sizes: []int{1024, 100_000}, prepare: chain},
		{group: g, name: "merge", columns: ns("merge", "merge-run"), sizes: []int{3}, prepare: merge},
		{group: g, name: "fan-in", columns: ns("fan-in-build", "fan-in"), sizes: []int{16, 64, 1024}, prepare: fanIn},
		{group: g, name: "fan-out", columns: []column{{"fan-out", MegaRate}}, sizes: []int{16, 64}, prepare: fanOut},
	}
}

// create makes user events and triggers them, one after the other.
func create(l *lab, _ int) round {
	return func() []float64 {
		w := start()
		for range l.batch {
			l.note(l.rt.NewUserEvent().Trigger(realm.NoEvent))
		}
		return []float64{w.lap(l.batch)}
	}
}

// chain makes events of which each triggers the next one, and then triggers the first.
func chain(l *lab, n int) round {
	return func() []float64 {
		w := start()
		first := l.rt.NewUserEvent()
		last := first
		for range n {
			u := l.rt.NewUserEvent()
			l.note(u.Trigger(last.Event()))
			last = u
		}
		build := w.lap(n)
		l.note(first.Trigger(realm.NoEvent))
		l.wait(last.Event())
		return []float64{build, w.lap(n)}
	}
}

// merge merges n events, many times, and then triggers all of them.
func merge(l *lab, n int) round {
	us, in := make([]realm.UserEvent, n*l.batch), make([]realm.Event, n)
	return func() []float64 {
		for i := range us {
			us[i] = l.rt.NewUserEvent()
		}
		w := start()
		last := realm.NoEvent
		for i := range l.batch {
			for j := range in {
				in[j] = us[i*n+j].Event()
			}
			last = l.rt.Merge(in...)
		}
		made := w.lap(l.batch)
		l.trigger(us)
		run := w.lap(l.batch)
		l.wait(last)
		return []float64{made, run}
	}
}

func (l *lab) trigger(us []realm.UserEvent) {
	for i := range us {
		l.note(us[i].Trigger(realm.NoEvent))
	}
}

// fanIn merges n events, and triggers them.
func fanIn(l *lab, n int) round {
	us, in := make([]realm.UserEvent, n), make([]realm.Event, n)
	return func() []float64 {
		for i := range us {
			us[i] = l.rt.NewUserEvent()
			in[i] = us[i].Event()
		}
		w := start()
		all := l.rt.Merge(in...)
		build := w.lap(n)
		l.trigger(us)
		run := w.lap(n)
		l.wait(all)
		return []float64{build, run}
	}
}

// sources is how many events trigger others in a round of fanOut.
const sources = 64

// fanOut triggers events, each of which triggers n others.
func fanOut(l *lab, n int) round {
	us := make([]realm.UserEvent, sources)
	return func() []float64 {
		last := realm.NoEvent
		for i := range us {
			us[i] = l.rt.NewUserEvent()
			for range n {
				u := l.rt.NewUserEvent()
				l.note(u.Trigger(us[i].Event()))
				last = u.Event()
			}
		}
		w := start()
		l.trigger(us)
		took := w.lap(sources * n)
		l.wait(last)
		return []float64{1e3 / took}
	}
}
