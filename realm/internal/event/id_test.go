package event

import (
	"testing"
)

// TestIDs: what an ID is made of comes back, at the limits of each part, and the kinds are apart.
func TestIDs(t *testing.T) {
	seen := map[ID]bool{0: true}
	try := func(id ID, kind Kind, rank, index int, gen uint32) {
		t.Helper()
		if id.Kind() != kind || id.Rank() != rank || id.Index() != index || kind != Reservation && id.Gen() != gen {
			t.Errorf("%#x: kind %d, rank %d, index %d, generation %d; want %d, %d, %d, %d",
				uint64(id), id.Kind(), id.Rank(), id.Index(), id.Gen(), kind, rank, index, gen)
		}
		if seen[id] {
			t.Errorf("%v twice", id)
		}
		seen[id] = true
	}
	for _, rank := range []int{0, 1, 0x5555, 0xaaaa, MaxRanks - 1} {
		for _, gen := range []uint32{1, 2, 0x55555, MaxGen} {
			for _, index := range []int{0, 1, 0x2aaaaaa, MaxIndex} {
				try(MakeEvent(rank, index, gen), Event, rank, index, gen)
			}
			for _, index := range []int{0, 1, 0xaaaaaa, MaxBarrierIndex} {
				try(MakeBarrier(rank, index, gen), Barrier, rank, index, gen)
			}
		}
		for _, index := range []int{0, 1, 1<<reservationIndexBits - 1} {
			try(MakeReservation(rank, index), Reservation, rank, index, 0)
		}
	}
}

// TestIDBits pins the layout, which is part of what ranks send to each other.
func TestIDBits(t *testing.T) {
	for _, c := range []struct {
		id   ID
		want uint64
		text string
	}{
		{0, 0, "no event"},
		{MakeEvent(1, 1, 1), 1<<63 | 1<<47 | 1<<20 | 1, "event 1.1.1"},
		{MakeEvent(MaxRanks-1, MaxIndex, MaxGen), 1<<64 - 1, "event 65535.134217727.1048575"},
		{MakeBarrier(1, 1, 1), 2<<60 | 1<<44 | 1<<20 | 1, "barrier 1.1.1"},
		{MakeReservation(1, 2), 3<<56 | 1<<40 | 2, "reservation 1.2"},
		{1, 1, "unknown 0x1"},
	} {
		if uint64(c.id) != c.want || c.id.String() != c.text {
			t.Errorf("%#x, %q; want %#x, %q", uint64(c.id), c.id, c.want, c.text)
		}
	}
	for _, id := range []ID{1, 1 << 59, 1 << 62, 3<<60 | 5, 2 << 56, 1 << 56} {
		if id.Kind() != None {
			t.Errorf("%#x is of kind %d", uint64(id), id.Kind())
		}
	}
}
