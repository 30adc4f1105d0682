package reliable

// nearIDs bounds the peer numbers that are found by index; greater ones, and negative ones, are looked up in a map.
const nearIDs = 1 << 20

// table finds peers by number: the lookup is on the way of each message and each packet.
type table struct {
	near []*peer // by number; nil where there is none
	far  map[int]*peer
}

// get returns nil if there is no such peer.
func (t *table) get(id int) *peer {
	if uint(id) < uint(len(t.near)) {
		return t.near[id]
	}
	if len(t.far) == 0 {
		return nil
	}
	return t.far[id]
}

func (t *table) put(id int, p *peer) {
	if uint(id) >= nearIDs {
		if t.far == nil {
			t.far = make(map[int]*peer)
		}
		t.far[id] = p
		return
	}
	if id >= len(t.near) {
		near := make([]*peer, max(id+1, min(2*len(t.near), nearIDs)))
		copy(near, t.near)
		t.near = near
	}
	t.near[id] = p
}

func (t *table) remove(id int) {
	if uint(id) < uint(len(t.near)) {
		t.near[id] = nil
		return
	}
	delete(t.far, id)
}
