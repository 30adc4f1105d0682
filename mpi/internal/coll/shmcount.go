package coll

import (
	"github.com/golci/golci/mpi/internal/shmcoll"
)

// Where ranks share cores, short collectives through the shared segment count: each rank brings what it has and adds
// itself to a word of all. The last one makes the result for all, and releases the others. So n ranks read n
// contributions, where n(n-1) are read if each looks at all others. Ranks that have a core each make those reads at the
// same time, and none waits for its turn to count: they do not count.

// countFrom is from how many ranks on counting is quicker.
const countFrom = 4

// counts tells whether ranks count. All ranks of the node come to the same.
func (x *Call) counts() bool { return x.st.shared.crowded && x.near() >= countFrom }

// byCount brings data and waits until all ranks of the node have. The last one makes the result, which all copy to out;
// combine writes it. What a rank has called is compared by the last one, and by a rank that waits long.
func (x *Call) byCount(data, out []byte, combine func(out []byte) error) error {
	if err := x.mayBring(); err != nil {
		return err
	}
	b := x.st.shared.b
	asleep := x.show(data) // who waits for the last one, and is woken by it
	result := b.Result(x.call, len(out))
	switch b.Arrive(x.call) {
	case x.near():
		_, err := x.missingRank(len(data))
		if err == nil {
			err = combine(result)
		}
		if err != nil {
			x.rouse(asleep) // they are to find out, too
			return err
		}
		x.setWord(b.Released(), x.call)
	case 0:
		x.rouse(asleep) // the count does not tell when all are there
	}
	released, err := x.awaitRelease(len(data))
	switch {
	case err != nil:
		return err
	case released:
		copy(out, result)
	default:
		err = combine(out)
	}
	x.allBrought()
	return err
}

// missingRank is the first rank that has not brought its n bytes, or -1 if all have. The error is that one has called
// something else.
func (x *Call) missingRank(n int) (int, error) {
	first, seq := -1, shmcoll.Seq(x.call, 0)
	for k := 1; k < x.near(); k++ {
		r := x.behindBy(k)
		p := x.st.shared.b.Short(r, x.call)
		switch {
		case p.Seq().Load() >= seq:
			if err := x.expects(r, p, seq, n); err != nil {
				return r, err
			}
		case first < 0:
			first = r
		}
	}
	return first, nil
}

// awaitRelease waits until the last rank releases this one, or, if that does not come, until all ranks have brought
// their n bytes. A wait that lasts is one for a rank that is missing.
func (x *Call) awaitRelease(n int) (bool, error) {
	word := x.st.shared.b.Released()
	released := func() bool { return word.Load() >= x.call }
	if released() {
		return true, nil
	}
	if x.st.waits != nil {
		peer, _ := x.missingRank(n)
		defer x.timeWait(max(peer, 0))()
	}
	if x.st.Server.LingerUntil(released, x.alarm) {
		return true, nil
	}
	for {
		peer, err := x.missingRank(n)
		if released() {
			return true, nil
		}
		if err != nil || peer < 0 {
			return false, err
		}
		over := func() bool {
			if released() {
				return true
			}
			now, err := x.missingRank(n)
			return err != nil || now != peer
		}
		if err := x.sleepUntil(peer, over, shmcoll.AwaitsData); err != nil {
			return false, err
		}
	}
}
