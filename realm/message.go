package realm

import "github.com/golci/golci/am"

// Handlers from the first on, and the channel of bulk data.
const (
	firstHandler = 96
	bulkChannel  = 1
)

// Handlers.
const (
	hSubscribe = firstHandler + iota
	hTrigger
	hUpdate
	hSpawn
	hChange
	hAsk
	hDescribe
	hShutdown
	hBarrier
	hParcel
	hOffer
	hGo
	hDone
	hSurvey
	hWaits
	hGreet
	hCount
	hWave
	hAgain
	hLock
	hProfile
	hBrief
	hEnds
	hNone
)

// checked has messages with fewer arguments than words refused.
func (rt *rankEvents) checked(words int, h am.Handler) am.Handler {
	return func(t *am.Token, args []uint64, payload []byte) {
		if len(args) < words {
			rt.tooShort(t, len(args), words)
			return
		}
		h(t, args, payload)
	}
}

func (rt *rankEvents) tooShort(t *am.Token, n, words int) {
	rt.fatal(rt.callErrorf("message", "rank %d sent a message with %d arguments, not %d", t.Source(), n, words))
}

// counted is checked, and has the messages that h serves counted, for quiescence.
func (rt *rankEvents) counted(words int, h am.Handler) am.Handler {
	return func(t *am.Token, args []uint64, payload []byte) {
		if len(args) < words {
			rt.tooShort(t, len(args), words)
			return
		}
		h(t, args, payload)
		rt.peers.peerOf(t.Source()).received.Add(1)
	}
}

// postMessage sends a message without waiting. It is dropped if the peer dies.
func (rt *rankEvents) postMessage(peer int, h uint8, payload []byte, args ...uint64) {
	rt.peers.peerOf(peer).sent.Add(1)
	rt.ep.Post(peer, h, payload, args...)
}

// request is postMessage for whoever may wait for credits.
func (rt *rankEvents) request(peer int, h uint8, payload []byte, args ...uint64) error {
	p := rt.peers.peerOf(peer)
	p.sent.Add(1)
	if rt.ep.InHandler() {
		rt.ep.Post(peer, h, payload, args...)
		return nil
	}
	err := rt.ep.RequestMedium(peer, h, payload, args...)
	if err != nil {
		p.sent.Add(-1)
	}
	return err
}
