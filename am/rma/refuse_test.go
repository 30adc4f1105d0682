package rma

import (
	"errors"
	"fmt"
	"testing"
)

// TestRefused: a rank asks by mistake for bytes outside the peer's segment. The peer refuses, and all goes on.
func TestRefused(t *testing.T) {
	j := newJob(t, 2, ways[1], 0)
	j.run(func(m *Memory) error {
		if m.Rank() == 1 {
			return nil
		}
		if _, err := m.SegmentSize(1); err != nil {
			return err
		}
		m.peers[1].Store(&target{rank: 1, size: 2 * testSegment}) // a mistake
		_, e1 := m.GetValue(1, testSegment, 8)
		_, e2 := FetchAdd[int64](m, 1, testSegment, 1)
		for i, err := range []error{
			e1, e2,
			m.Put(1, testSegment-4, pattern(8, 1)),
			m.Get(1, testSegment-4, make([]byte, 8)),
			m.Memset(1, testSegment, 1, 10),
			m.PutValue(1, testSegment-1, 1, 2),
			m.PutNotify(1, testSegment, pattern(8, 1), 0, 1),
		} {
			if !errors.Is(err, ErrRefused) {
				return fmt.Errorf("access %d: %w", i, err)
			}
		}
		return m.Put(1, testSegment-8, pattern(8, 1))
	})
	if j.ms[1].Counter(0) != 0 {
		t.Error("a refused put has notified")
	}
}

// TestLateAnswers: answers that name operations that do not exist, or are over, are dropped.
func TestLateAnswers(t *testing.T) {
	j := newJob(t, 2, ways[1], 0)
	j.run(func(m *Memory) error {
		if err := m.PutValue(1-m.Rank(), 0, 1, 8); err != nil {
			return err
		}
		h, err := m.PutValueNB(1-m.Rank(), 8, 2, 8)
		if err != nil {
			return err
		}
		late := h.o.id - 1<<32 // the one before
		for _, id := range []uint64{late, 1 << 40, 1 << 20, 5000, ^uint64(0)} {
			for _, a := range []uint8{hAck, hData} {
				if err := m.e.RequestMedium(m.Rank(), a, pattern(8, 1), id, 0); err != nil {
					return err
				}
			}
			if err := m.e.RequestShort(m.Rank(), hOld, id, 1, 0); err != nil {
				return err
			}
		}
		return h.Wait()
	})
	for _, m := range j.ms {
		if d := differ(m.Segment()[:9], []byte{1, 0, 0, 0, 0, 0, 0, 0, 2}); d != "" {
			t.Error(d)
		}
	}
}

// TestValueHandles are done when their value is there, and zero after a Wait.
func TestValueHandles(t *testing.T) {
	overAll(t, 2, func(t *testing.T, j *job) {
		j.run(func(m *Memory) error {
			peer := 1 - m.Rank()
			if err := m.PutValue(peer, 0, 77, 8); err != nil {
				return err
			}
			h, err := m.GetValueNB(peer, 0, 8)
			if err != nil {
				return err
			}
			eventually(t, "the value", h.Test)
			if v, err := h.Wait(); v != 77 || err != nil {
				return fmt.Errorf("%d, %w", v, err)
			}
			if v, err := h.Wait(); v != 0 || err != nil || !h.Test() {
				return fmt.Errorf("second wait: %d, %w", v, err)
			}
			return nil
		})
	})
}
