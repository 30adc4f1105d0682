package realm

import (
	"github.com/golci/golci/am"
	"github.com/golci/golci/realm/internal/events"
)

// First and Last are the handler indices of this package, Channel its channel of bulk data.
const (
	First   = 96
	Last    = 159
	Channel = 1
)

// Package events numbers handlers from First on, too.
const _ = uint(First-events.FirstHandler) + uint(events.FirstHandler-First) + uint(Channel-events.BulkChannel)

// layer is what the runtime has on the endpoint.
func (rt *Runtime) layer() am.Layer {
	specs, carriers := make([]am.Spec, Last-First+1), rt.ev.Carriers
	for h, s := range map[int]am.Spec{
		events.HSubscribe: {Name: "subscribe", Run: rt.ev.Counted(1, rt.ev.OnSubscribe)},
		events.HTrigger:   {Name: "trigger"},
		events.HUpdate:    {Name: "update"},
		events.HSpawn:     {Name: "spawn", Run: rt.ev.Counted(spawnWords, rt.onSpawn)},
		events.HBrief:     {Name: "brief spawn", Run: rt.ev.Counted(1, rt.onBrief)},
		events.HEnds:      {Name: "ends", Run: rt.ev.Counted(1, rt.onEnds)},
		events.HNone:      {Name: "no such event", Run: rt.ev.Counted(1, rt.ev.OnNone)},
		events.HChange:    {Name: "change"},
		events.HAsk:       {Name: "ask", Run: rt.ev.Counted(1, rt.onAsk)},
		events.HDescribe:  {Name: "describe", Run: rt.ev.Counted(1, rt.onDescribe)},
		events.HShutdown:  {Name: "shutdown", Run: rt.ev.Counted(0, rt.onShutdown)},
		events.HLock:      {Name: "reservation", Run: rt.ev.Counted(lockWords, rt.onLock)},
		events.HBarrier:   {Name: "barrier"},
		events.HParcel:    {Name: "parcel", Run: rt.ev.Counted(2, rt.ev.OnParcel)},
		events.HOffer:     {Name: "offer", Run: rt.ev.Counted(4, rt.ev.OnOffer)},
		events.HGo:        {Name: "go", Run: rt.ev.Counted(2, rt.ev.OnGo)},
		events.HDone:      {Name: "done"},
		events.HSurvey:    {Name: "survey", Run: rt.ev.Counted(1, rt.onSurvey)},
		events.HWaits:     {Name: "waits", Run: rt.ev.Counted(2, rt.onWaits)},
		events.HGreet:     {Name: "greet", Run: rt.ev.Checked(1, rt.onGreet)},
		events.HCount:     {Name: "count", Run: rt.ev.Checked(4, rt.onCount)},
		events.HWave:      {Name: "wave", Run: rt.ev.Checked(3, rt.onWave)},
		events.HAgain:     {Name: "again", Run: rt.ev.Checked(1, rt.onAgain)},
		events.HProfile:   {Name: "profile", Run: rt.ev.Counted(1, rt.onProfile)},
	} {
		if c, ok := carriers[uint8(h)]; ok {
			s.Run = rt.ev.Counted(c.Words, rt.ev.Short(c.Take))
		}
		s.MaxReply = am.NoReply
		specs[h-First] = s
	}
	return am.Layer{
		Name: "realm", First: First, Handlers: specs, Channel: Channel, Bulk: rt.ev.OnBulk, PeerGone: rt.peerGone,
		Held: rt.sendOldEnds,
	}
}

// parcelTable are the functions that handle parcels.
func (rt *Runtime) parcelTable() [events.ParcelKinds]events.ParcelFunc {
	return [events.ParcelKinds]events.ParcelFunc{
		events.ParcelJob:    rt.onJob,
		events.ParcelAsk:    rt.onAskLayout,
		events.ParcelLayout: rt.ev.TakeAnswer,
		events.ParcelPut:    rt.onPut,
		events.ParcelOpen:   rt.onOpen,
		events.ParcelReduce: rt.onReduce,
		events.ParcelSpawn:  rt.onLongSpawn,
		events.ParcelPoison: rt.ev.OnLongPoison,
	}
}

// carrierTable are the kinds of messages that may carry poison, by handler.
func (rt *Runtime) carrierTable() map[uint8]events.Carrier {
	return map[uint8]events.Carrier{
		events.HTrigger: {Words: 1, Take: rt.ev.TakeTrigger},
		events.HUpdate:  {Words: 1, Take: rt.ev.TakeUpdate},
		events.HChange:  {Words: 2, Take: rt.takeChange},
		events.HDone:    {Words: 2, Take: rt.ev.TakeDone},
		events.HBarrier: {Words: 2, Take: rt.ev.TakeBarrier},
	}
}
