package trace

import "encoding/binary"

// Kind says what a record stands for, and whether a message or an event leads away from it or to it.
type Kind uint32

// Kinds. One of FlowOut and FlowIn may be added to Slice, or stand alone.
const (
	Slice   Kind = 1 + iota // the track did this from Start to End; slices of a track are nested or apart
	Instant                 // it happened at Start
	Count                   // A is the value of a counter from Start on
	Span                    // it took from Start to End; spans may overlap, and have tracks of their own

	FlowOut Kind = 1 << 8 // an arrow begins at Start, in the slice of that time
	FlowIn  Kind = 1 << 9 // an arrow ends there

	flows = FlowOut | FlowIn
)

// Name is the number of a Label at its recorder. The zero Name stands for none.
type Name uint32

// Label is what records of one name have in common.
type Label struct {
	Text     string    `json:"text"`
	Category string    `json:"category"` // arrows join records of one category, under one Flow
	Args     [3]string `json:"args"`     // what A, B and Flow are; empty: they are not shown
}

// Record is one entry of a track. Times are those of Recorder.Now.
type Record struct {
	Start, End uint64
	A, B       uint64
	Flow       uint64 // the arrow, the same at both of its ends
	Name       Name
	Kind       Kind
}

const recordBytes = 48

func (e *Record) appendTo(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(le.AppendUint64(b, e.Start), e.End)
	b = le.AppendUint64(le.AppendUint64(b, e.A), e.B)
	return le.AppendUint32(le.AppendUint32(le.AppendUint64(b, e.Flow), uint32(e.Name)), uint32(e.Kind))
}

// decodeFrom reads a record from the recordBytes at the start of b.
func (e *Record) decodeFrom(b []byte) {
	le := binary.LittleEndian
	e.Start, e.End, e.A, e.B = le.Uint64(b), le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:])
	e.Flow, e.Name, e.Kind = le.Uint64(b[32:]), Name(le.Uint32(b[40:])), Kind(le.Uint32(b[44:]))
}
