package reliable

// table finds peers by number: the lookup is on the way of each message and each packet.
type table []*peer // nil where there is none

// peerAt returns nil if there is no such peer.
func (t table) peerAt(id int) *peer {
	if uint(id) >= uint(len(t)) {
		return nil
	}
	return t[id]
}

func (t *table) putPeer(id int, p *peer) {
	if id >= len(*t) {
		wider := make(table, max(id+1, min(2*len(*t), maxPeers)))
		copy(wider, *t)
		*t = wider
	}
	(*t)[id] = p
}

func (t table) removePeer(id int) { t[id] = nil }
