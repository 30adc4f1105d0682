package realm

import (
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/realm/internal/event"
)

// A profile travels as these words. Only profiles of tasks and of operations on instances travel.
const (
	wordFinish = iota
	wordWhat   // from the low end 8 bits each: kind, outcome; then the place of a task in the catalog
	wordProcessor
	wordWaits
	wordWaited
	wordSource
	wordTarget
	wordFrom
	wordTo
	wordBytes
	wordTimes
	profileWords = wordTimes + 5
)

const placeShift = 16 // of wordWhat

// sendProfiles sends b to the rank that has asked for it.
func (rt *Runtime) sendProfiles(b *batch) {
	most := rt.ep.MaxMedium() / (8 * profileWords)
	for list := range slices.Chunk(b.list, most) {
		var payload []byte
		for i := range list {
			payload = rt.appendProfile(payload, &list[i])
		}
		rt.postMessage(b.sink.rank, hProfile, payload, uint64(b.sink.id))
	}
}

func (rt *Runtime) appendProfile(b []byte, x *OperationProfile) []byte {
	place, _ := slices.BinarySearchFunc(rt.catalog.defs, x.Task, func(d *registration, name string) int {
		return strings.Compare(d.name, name)
	})
	for _, word := range [profileWords]uint64{
		wordFinish: uint64(x.Finish), wordWhat: uint64(place)<<placeShift | uint64(x.Outcome)<<8 | uint64(x.Kind),
		wordProcessor: uint64(x.Processor), wordWaits: uint64(x.Waits), wordWaited: uint64(x.Waited),
		wordSource: uint64(x.Source), wordTarget: uint64(x.Target), wordFrom: uint64(x.From), wordTo: uint64(x.To),
		wordBytes: uint64(x.Bytes),
		wordTimes: uint64(x.Create), uint64(x.Ready), uint64(x.Start), uint64(x.End), uint64(x.Complete),
	} {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	return b
}

// onProfile: another rank tells of operations that it has done for this one.
func (rt *Runtime) onProfile(t *am.Token, args []uint64, payload []byte) {
	sink := rt.profilers.findProfiler(args[0])
	list, ok := rt.parseProfiles(payload)
	if sink == nil || !ok {
		rt.malformed(t, "profiles for", event.ID(args[0]))
		return
	}
	rt.utility.pushTask(rt.newInternal(func(*Ctx) error {
		sink.f(list)
		return nil
	}), nil)
}

func (rt *Runtime) parseProfiles(b []byte) (list []OperationProfile, ok bool) {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	for ; len(b) >= 8*profileWords; b = b[8*profileWords:] {
		at := func(i int) time.Duration { return time.Duration(word(wordTimes + i)) }
		x := OperationProfile{
			Kind: OperationKind(word(wordWhat)), Outcome: Outcome(word(wordWhat) >> 8), Finish: Event(word(wordFinish)),
			Processor: Processor(word(wordProcessor)),
			Waits:     int(word(wordWaits)), Waited: time.Duration(word(wordWaited)),
			Source: InstanceID(word(wordSource)), Target: InstanceID(word(wordTarget)),
			From: Memory(word(wordFrom)), To: Memory(word(wordTo)), Bytes: int64(word(wordBytes)),
			Create: at(0), Ready: at(1), Start: at(2), End: at(3), Complete: at(4),
		}
		if x.Kind == OperationTask {
			place := word(wordWhat) >> placeShift
			if place >= uint64(len(rt.catalog.defs)) {
				return nil, false
			}
			x.Task = rt.catalog.defs[place].name
		}
		if x.Kind >= operationKinds || x.Outcome > Skipped {
			return nil, false
		}
		list = append(list, x)
	}
	return list, len(b) == 0 && len(list) > 0
}
