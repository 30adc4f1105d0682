package realm

import "testing"

// TestTwoWaves: one wave in which as many messages have been received as sent is not the end, since it sees the ranks
// at different times. The next one must find the same numbers.
func TestTwoWaves(t *testing.T) {
	rt := new(Runtime)
	rt.ev.Peers.InitPeers(2)
	var last counts
	for i, c := range []struct {
		sent, received int64 // by the children
		epoch          int
		over           bool
	}{
		{10, 10, 0, false},
		{12, 12, 0, false},
		{12, 11, 0, false},
		{12, 11, 0, false},
		{12, 12, 0, false},
		{12, 12, 1, false}, // a rank has died
		{12, 12, 1, true},
	} {
		rt.quiescence.over = 0
		rt.answerWave(true, 0, c.epoch, i, counts{1, c.sent, c.received}, &last)
		if rt.quiescence.over != 0 != c.over || c.over && rt.anyDead() != (c.epoch > 0) {
			t.Errorf("wave %d, %+v: over %v", i, c, rt.quiescence.over)
		}
	}
	rt.ev.Peers.PeerOf(1).Sent.Add(1) // of the root, which counts, too
	for i, received := range []int64{12, 12, 13, 13} {
		rt.quiescence.over = 0
		if rt.answerWave(true, 0, 1, 9, counts{1, 12, received}, &last); rt.quiescence.over != 0 != (i == 3) {
			t.Errorf("%d messages sent, %d received, wave %d: over %v", 13, received, i, rt.quiescence.over)
		}
	}
}

// TestLateNews: a rank answers a wave, and learns of a death only then. The root has known of it before, so the answer
// does not count. The job ends nevertheless.
func TestLateNews(t *testing.T) {
	for _, n := range []int{2, 3, 7} {
		late := n - 1 // it has no children
		must(t, Run(n, func(rt *Runtime) error {
			var m quiescenceWait
			if rt.ev.Self == late {
				if over, err := rt.takePart(&m); over || err != nil || m.done == 0 {
					t.Errorf("%d ranks: wave %d: over %v, %v", n, m.done, over, err)
				}
			}
			rt.quiescence.peerGone(rt)
			for over := false; !over; {
				var err error
				if over, err = rt.takePart(&m); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}
