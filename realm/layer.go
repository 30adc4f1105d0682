package realm

import "github.com/golci/golci/am"

// First and Last are the handler indices of this package, Channel its channel of bulk data.
const (
	First   = 96
	Last    = 159
	Channel = 1
)

// layer is what the runtime has on the endpoint.
func (rt *Runtime) layer() am.Layer {
	specs, carriers := make([]am.Spec, Last-First+1), rt.carriers
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

// parcelTable are the functions that handle parcels.
func (rt *Runtime) parcelTable() [parcelKinds]parcelFunc {
	return [parcelKinds]parcelFunc{
		parcelJob:    func(k *cascade, src int, _ uint64, b []byte) error { return rt.onJob(k, src, b) },
		parcelAsk:    rt.onAskLayout,
		parcelLayout: rt.takeAnswer,
		parcelPut:    rt.onPut,
		parcelOpen:   rt.onOpen,
		parcelReduce: rt.onReduce,
		parcelSpawn:  func(k *cascade, src int, _ uint64, b []byte) error { return rt.onLongSpawn(k, src, b) },
		parcelPoison: func(k *cascade, src int, _ uint64, b []byte) error { return rt.onLongPoison(k, src, b) },
	}
}

// carrierTable are the kinds of messages that may carry poison, by handler.
func (rt *Runtime) carrierTable() map[uint8]carrier {
	return map[uint8]carrier{
		hTrigger: {1, rt.takeTrigger},
		hUpdate:  {1, rt.takeUpdate},
		hChange:  {2, rt.takeChange},
		hDone:    {2, rt.takeDone},
		hBarrier: {2, rt.takeBarrier},
	}
}
