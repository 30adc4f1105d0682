package barrier

import "testing"

// TestForeignState: a state that names ranks outside of the job, or values of a size that cannot be, is refused.
func TestForeignState(t *testing.T) {
	for name, spoil := range map[string]func(b *Barrier){
		"nothing":    func(*Barrier) {},
		"member":     func(b *Barrier) { b.members.addRank(70) },
		"subscriber": func(b *Barrier) { b.phaseAt(1).subs.addRank(70) },
		"arrival":    func(b *Barrier) { b.own.held = append(b.own.held, Message{From: 70, Phase: 1, Count: 1}) },
		"stamp": func(b *Barrier) {
			b.own.alters = append(b.own.alters, Message{From: 1, Phase: 1, Stamp: makeStamp(70, 1)})
		},
		"size":     func(b *Barrier) { b.own.size = -8 },
		"too long": func(b *Barrier) { b.own.size = maxValue + 1 },
	} {
		from, to := newJob(t, 100, 2), newJob(t, 3, 2)
		spoil(from.bs[0])
		if err := to.bs[1].unpack(from.bs[0].pack()); (err == nil) != (name == "nothing") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
