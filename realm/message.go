package realm

import (
	"github.com/golci/golci/am"
)

// First and Last are the handler indices of this package, Channel its channel of bulk data.
const (
	First   = 96
	Last    = 159
	Channel = 1
)

// Handlers.
const (
	hSubscribe = First + iota
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

// layer is what the runtime has on the endpoint.
func (rt *Runtime) layer() am.Layer {
	specs, carriers := make([]am.Spec, Last-First+1), rt.carriers()
	for h, s := range map[int]am.Spec{
		hSubscribe: {Name: "subscribe", Run: rt.counted(1, rt.onSubscribe)},
		hTrigger:   {Name: "trigger"},
		hUpdate:    {Name: "update"},
		hSpawn:     {Name: "spawn", Run: rt.counted(spawnWords, rt.onSpawn)},
		hBrief:     {Name: "brief spawn", Run: rt.counted(1, rt.onBrief)},
		hEnds:      {Name: "ends", Run: rt.counted(1, rt.onEnds)},
		hNone:      {Name: "no such event", Run: rt.counted(1, rt.onNone)},
		hChange:    {Name: "change"},
		hAsk:       {Name: "ask", Run: rt.counted(1, rt.onAsk)},
		hDescribe:  {Name: "describe", Run: rt.counted(1, rt.onDescribe)},
		hShutdown:  {Name: "shutdown", Run: rt.counted(0, rt.onShutdown)},
		hLock:      {Name: "reservation", Run: rt.counted(lockWords, rt.onLock)},
		hBarrier:   {Name: "barrier"},
		hParcel:    {Name: "parcel", Run: rt.counted(2, rt.onParcel)},
		hOffer:     {Name: "offer", Run: rt.counted(4, rt.onOffer)},
		hGo:        {Name: "go", Run: rt.counted(2, rt.onGo)},
		hDone:      {Name: "done"},
		hSurvey:    {Name: "survey", Run: rt.counted(1, rt.onSurvey)},
		hWaits:     {Name: "waits", Run: rt.counted(2, rt.onWaits)},
		hGreet:     {Name: "greet", Run: rt.checked(1, rt.onGreet)},
		hCount:     {Name: "count", Run: rt.checked(4, rt.onCount)},
		hWave:      {Name: "wave", Run: rt.checked(3, rt.onWave)},
		hAgain:     {Name: "again", Run: rt.checked(1, rt.onAgain)},
		hProfile:   {Name: "profile", Run: rt.counted(1, rt.onProfile)},
	} {
		if c, ok := carriers[uint8(h)]; ok {
			s.Run = rt.counted(c.words, rt.short(c.take))
		}
		s.MaxReply = am.NoReply
		specs[h-First] = s
	}
	return am.Layer{
		Name: "realm", First: First, Handlers: specs, Channel: Channel, Bulk: rt.onBulk, PeerGone: rt.peerGone,
		Held: rt.sendOldEnds,
	}
}

// checked has messages with fewer arguments than words refused.
func (rt *Runtime) checked(words int, h am.Handler) am.Handler {
	return func(t *am.Token, args []uint64, payload []byte) {
		if len(args) < words {
			rt.tooShort(t, len(args), words)
			return
		}
		h(t, args, payload)
	}
}

func (rt *Runtime) tooShort(t *am.Token, n, words int) {
	rt.fatal(rt.callErrorf("message", "rank %d sent a message with %d arguments, not %d", t.Source(), n, words))
}

// counted is checked, and has the messages that h serves counted, for quiescence.
func (rt *Runtime) counted(words int, h am.Handler) am.Handler {
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
func (rt *Runtime) postMessage(peer int, h uint8, payload []byte, args ...uint64) {
	rt.peers.peerOf(peer).sent.Add(1)
	rt.ep.Post(peer, h, payload, args...)
}

// request is postMessage for whoever may wait for credits.
func (rt *Runtime) request(peer int, h uint8, payload []byte, args ...uint64) error {
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
