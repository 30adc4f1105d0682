package events

import "github.com/golci/golci/am"

// Handlers from the first on, and the channel of bulk data.
const (
	FirstHandler = 96
	BulkChannel  = 1
)

// Handlers.
const (
	HSubscribe = FirstHandler + iota
	HTrigger
	HUpdate
	HSpawn
	HChange
	HAsk
	HDescribe
	HShutdown
	HBarrier
	HParcel
	HOffer
	HGo
	HDone
	HSurvey
	HWaits
	HGreet
	HCount
	HWave
	HAgain
	HLock
	HProfile
	HBrief
	HEnds
	HNone
)

// Checked has messages with fewer arguments than words refused.
func (rt *Rank) Checked(words int, h am.Handler) am.Handler {
	return func(t *am.Token, args []uint64, payload []byte) {
		if len(args) < words {
			rt.tooShort(t, len(args), words)
			return
		}
		h(t, args, payload)
	}
}

func (rt *Rank) tooShort(t *am.Token, n, words int) {
	rt.Fatal(rt.CallErrorf("message", "rank %d sent a message with %d arguments, not %d", t.Source(), n, words))
}

// Counted is checked, and has the messages that h serves counted, for quiescence.
func (rt *Rank) Counted(words int, h am.Handler) am.Handler {
	return func(t *am.Token, args []uint64, payload []byte) {
		if len(args) < words {
			rt.tooShort(t, len(args), words)
			return
		}
		h(t, args, payload)
		rt.Peers.PeerOf(t.Source()).Received.Add(1)
	}
}

// PostMessage sends a message without waiting. It is dropped if the peer dies.
func (rt *Rank) PostMessage(peer int, h uint8, payload []byte, args ...uint64) {
	rt.Peers.PeerOf(peer).Sent.Add(1)
	rt.Endpoint.Post(peer, h, payload, args...)
}

// Request is PostMessage for whoever may wait for credits.
func (rt *Rank) Request(peer int, h uint8, payload []byte, args ...uint64) error {
	p := rt.Peers.PeerOf(peer)
	p.Sent.Add(1)
	if rt.Endpoint.InHandler() {
		rt.Endpoint.Post(peer, h, payload, args...)
		return nil
	}
	err := rt.Endpoint.RequestMedium(peer, h, payload, args...)
	if err != nil {
		p.Sent.Add(-1)
	}
	return err
}
