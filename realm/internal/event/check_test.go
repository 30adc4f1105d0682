package event

import (
	"errors"
	"fmt"
	"math/bits"
)

// check tells what must never be, in any state. rest says that nothing is under way.
func (x *system) check(rest bool) error {
	if x.fault != "" {
		return errors.New(x.fault)
	}
	for _, j := range x.jobs {
		if err := x.checkJob(j, rest); err != nil {
			return err
		}
	}
	for i := range x.slots {
		for g := range x.slots[i].truth {
			if err := x.checkGeneration(i, uint32(g+1)); err != nil {
				return err
			}
		}
		if rest {
			if err := x.checkRest(i); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *system) checkJob(j *job, rest bool) error {
	t := x.truth(j.slot, j.gen)
	over := t.triggered || t.told>>j.rank&1 != 0
	switch {
	case x.dead[j.rank]: // what it has done at the last does not matter
	case j.fired > 1, j.fired > 0 && j.withdrawn:
		return fmt.Errorf("%s has fired %d times, withdrawn %v", j.name, j.fired, j.withdrawn)
	case j.fired > 0 && !over:
		return fmt.Errorf("%s has fired, and its event has not triggered", j.name)
	case j.fired > 0 && isForgotten(j.got) && !isForgotten(t.why) && !j.atOnce && t.late>>j.rank&1 == 0:
		return fmt.Errorf("%s has asked in time, and is told that its outcome has been forgotten", j.name)
	case j.fired > 0:
		return x.rightPoison(j.rank, j.slot, j.gen, j.got)
	case rest && over && !j.withdrawn:
		return fmt.Errorf("%s has not fired, and its event has triggered", j.name)
	}
	return nil
}

// isForgotten tells whether why stands for an outcome that is not known. It may be the poison of what waits for that.
func isForgotten(why *Poison) bool { return why != nil && why.Errors&Lost != 0 }

// rightPoison tells what is wrong with why as the poison of a generation, for rank.
func (x *system) rightPoison(rank, slot int, gen uint32, why *Poison) error {
	t := x.truth(slot, gen)
	if t.told>>rank&1 != 0 && why != nil && *why == *died {
		return nil
	}
	switch {
	case !t.triggered:
	case t.lost && isForgotten(why):
		return nil
	case t.why == nil || why == nil:
		if t.why == why {
			return nil
		}
	case equal(why, t.why) || equal(why, t.why.data()) && x.poisonedSince(slot, gen) >= maxCauses:
		return nil
	}
	return fmt.Errorf("rank %d has the poison %+v for generation %d of slot %d, not %+v", rank, why, gen, slot, t.why)
}

// poisonedSince is how many later generations have a poison.
func (x *system) poisonedSince(slot int, gen uint32) (n int) {
	for _, t := range x.slots[slot].truth[gen:] {
		if t.why != nil {
			n++
		}
	}
	return n
}

// checkGeneration compares what each rank holds for true with the truth, and counts messages.
func (x *system) checkGeneration(slot int, gen uint32) error {
	s := &x.slots[slot]
	t := x.truth(slot, gen)
	for rank := range x.ranks {
		if x.dead[rank] {
			continue
		}
		st, why := s.at[rank].Look(gen)
		if rank == s.owner {
			st, why = s.Slot.Look(gen)
		}
		if st == Unknown {
			return fmt.Errorf("rank %d does not know generation %d of slot %d", rank, gen, slot)
		}
		if st == Triggered {
			if !t.triggered && t.told>>rank&1 == 0 {
				return fmt.Errorf("rank %d holds generation %d of slot %d for triggered", rank, gen, slot)
			}
			if err := x.rightPoison(rank, slot, gen, why); err != nil {
				return err
			}
		}
	}
	if most := 2*(bits.OnesCount64(t.parties)+t.forgotten) - 2; t.messages > most {
		return fmt.Errorf("%d messages for generation %d of slot %d, more than %d", t.messages, gen, slot, most)
	}
	return nil
}

// checkRest finds what is kept though all generations of a slot have triggered, and all is delivered.
func (x *system) checkRest(slot int) error {
	s := &x.slots[slot]
	if x.dead[s.owner] || s.alive {
		return nil
	}
	if n := len(s.truth); n != int(s.gen) {
		return fmt.Errorf("the owner of slot %d is at generation %d of %d", slot, s.gen, n)
	}
	if s.extra != nil && (s.Subscribers() != 0 || len(s.extra.questions) != 0) || !s.wait.Empty() {
		return fmt.Errorf("the owner of slot %d has %d subscribers, %+v, at rest", slot, s.Subscribers(), s.extra)
	}
	for rank := range s.at {
		r := &s.at[rank]
		if !x.dead[rank] && (r.first.gen != 0 || len(r.more) != 0) {
			return fmt.Errorf("rank %d waits for slot %d at rest", rank, slot)
		}
	}
	return nil
}
