package badnet

import "time"

// Fate decides about the packets of one direction, one after the other. The decision on the k-th follows from the seed
// and k, and for bursts from the packets before. It has one owner at a time.
type Fate struct {
	f      Faults
	n      uint64 // packets so far
	losing bool   // within a burst
}

// NewFate makes one. The error matches ErrFaults.
func NewFate(f Faults) (*Fate, error) {
	if err := f.checkFaults(); err != nil {
		return nil, err
	}
	return &Fate{f: f}, nil
}

// Times is for a simulation. It gives the times at which the next packet arrives that is due at due. None: it is lost;
// several: it is repeated. A reordered packet and a second copy come up to ReorderBy later. Damage, delays and cuts are
// left to the caller.
func (t *Fate) Times(due time.Duration) []time.Duration {
	v := t.nextVerdict()
	if v.lost {
		return nil
	}
	if v.reorder {
		due += time.Duration(v.late * float64(t.f.ReorderBy))
	}
	if v.dup {
		return []time.Duration{due, due + time.Duration(v.apart*float64(t.f.ReorderBy))}
	}
	return []time.Duration{due}
}

// verdict is the fate of one packet.
type verdict struct {
	lost, dup, reorder, corrupt, truncate bool
	jitter                                float64 // part of Jitter
	bit, detail                           uint64  // which bit flips; how much stays
	late, apart                           float64 // parts of ReorderBy, of Times: lateness, and time between two copies
}

// nextVerdict throws all dice for the next packet, whether they count or not, so that one chance does not shift the
// others.
func (t *Fate) nextVerdict() verdict {
	d := NewDice(t.f.Seed, t.n)
	t.n++
	v := verdict{lost: t.loseNext(d.rollChance())}
	v.dup = d.rollChance() < t.f.Dup
	v.reorder = d.rollChance() < t.f.Reorder
	v.corrupt = d.rollChance() < t.f.Corrupt
	v.truncate = d.rollChance() < t.f.Truncate
	v.jitter = d.rollChance()
	v.bit, v.detail = d.Uint64(), d.Uint64()
	v.late, v.apart = d.rollChance(), d.rollChance()
	return v
}

// loseNext is Gilbert's model: a run of losses ends with chance 1/Burst, and begins with the one that makes Loss of all
// packets lost.
func (t *Fate) loseNext(dice float64) bool {
	switch {
	case t.f.Burst <= 1:
		return dice < t.f.Loss
	case t.losing:
		t.losing = dice >= 1/t.f.Burst
	default:
		t.losing = dice < t.f.Loss/(t.f.Burst*(1-t.f.Loss))
	}
	return t.losing
}
