package reliable

import (
	"bytes"
	"math"
	"reflect"
	"testing"
)

// TestRecords: records of all kinds and smallest sizes come out of a body as they went in, one behind the other.
func TestRecords(t *testing.T) {
	records := []record{
		{kind: kindFrag, tag: 3},
		{kind: kindFrag, tag: 255, data: []byte{7}},
		{kind: kindChunk, tag: 1, frag: 5, size: 1, data: []byte{1}},
		{kind: kindChunk, tag: 1, frag: math.MaxUint32, size: 9, offset: 7, data: []byte{1, 2}},
		{kind: kindPut, place: math.MaxUint64, offset: math.MaxUint64},
		{kind: kindPut, place: 1, offset: 2, data: bytes.Repeat([]byte{9}, 300)},
	}
	all := len(records)
	for from := range 2 * all {
		records := records[from%all:]
		if from >= all {
			records = records[:1] // alone in its body
		}
		body := make([]byte, 0, 1000)
		for _, r := range records {
			n := r.putRecord(body[len(body):cap(body)])
			body = body[:len(body)+n]
		}
		for _, want := range records {
			var got record
			rest, ok := got.nextRecord(body)
			if !ok || !bytes.Equal(got.data, want.data) {
				t.Fatalf("got %+v, %v, want %+v", got, ok, want)
			}
			if got.data, want.data = nil, nil; !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
			body = rest
		}
		if len(body) != 0 {
			t.Errorf("%d bytes are left", len(body))
		}
	}
}

// TestBadRecords: what no sender writes is refused.
func TestBadRecords(t *testing.T) {
	whole := func(r record) []byte {
		b := make([]byte, 100)
		return b[:r.putRecord(b)]
	}
	cut := func(b []byte) []byte { return b[:len(b)-1] }
	chunk := record{kind: kindChunk, size: 9, offset: 7, data: []byte{1, 2}}
	for name, body := range map[string][]byte{
		"nothing":                 nil,
		"less than a header":      cut(whole(record{kind: kindFrag})),
		"a chunk's header cut":    whole(chunk)[:chunkHeader-1],
		"a put's header cut":      cut(whole(record{kind: kindPut})),
		"less than its size":      cut(whole(chunk)),
		"kind below the first":    whole(record{kind: kindFrag - 1}),
		"kind above the last":     whole(record{kind: kindPut + 1}),
		"an empty chunk":          whole(record{kind: kindChunk, size: 9, offset: 7}),
		"an empty chunk at 0":     whole(record{kind: kindChunk, size: 9}),
		"a chunk beyond the end":  whole(record{kind: kindChunk, size: 8, offset: 7, data: []byte{1, 2}}),
		"a chunk far beyond":      whole(record{kind: kindChunk, size: 8, offset: math.MaxUint32, data: []byte{1, 2}}),
		"a put that wraps around": whole(record{kind: kindPut, offset: math.MaxUint64, data: []byte{1}}),
	} {
		var r record
		if _, ok := r.nextRecord(body); ok {
			t.Errorf("%s was taken: %+v", name, r)
		}
	}
}
