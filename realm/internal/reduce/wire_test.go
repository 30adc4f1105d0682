package reduce

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/golci/golci/realm/internal/space"
)

// replay gives a chunk to a target that lies between guards, and fails if one of them changes.
func replay(t *testing.T, chunk []byte) error {
	t.Helper()
	s := space.Range(0, 40)
	lay, _ := space.SOA(s, []space.Field{{Name: "v", Size: 4, Align: 4}})
	const guard = 64
	data := bytes.Repeat([]byte{0x55}, guard+int(lay.Size())+guard)
	to, err := Sum[int32]().Onto(data[guard:][:lay.Size()], lay, 0, s, Exclusive)
	if err != nil {
		t.Fatal(err)
	}
	err = to.Replay(chunk)
	for i, b := range data {
		if (i < guard || i >= len(data)-guard) && b != 0x55 {
			t.Fatalf("byte %d has changed", i-guard)
		}
	}
	if err != nil && !errors.Is(err, errWire) && !errors.Is(err, errIndex) {
		t.Fatalf("%v", err)
	}
	return err
}

func TestBadChunks(t *testing.T) {
	block := func(form byte, n byte, rest ...byte) []byte { return append([]byte{form, n, 0, 0, 0}, rest...) }
	zeros := make([]byte, 400)
	for name, c := range map[string]struct {
		chunk []byte
		want  error
	}{
		"form 0":         {block(0, 1, zeros...), errWire},
		"form 4":         {block(4, 1, zeros...), errWire},
		"short head":     {[]byte{1, 1}, errWire},
		"short row":      {block(formRow, 1, zeros[:11]...), errWire},
		"short list":     {block(formList32, 2, zeros[:15]...), errWire},
		"many":           {append([]byte{formList64, 255, 255, 255, 255}, zeros...), errWire},
		"row at the end": {block(formRow, 2, append([]byte{39}, zeros[:15]...)...), errIndex},
		"row far away":   {block(formRow, 2, bytes.Repeat([]byte{255}, 16)...), errIndex},
		"point":          {block(formList32, 1, 40, 0, 0, 0, 1, 0, 0, 0), errIndex},
		"wide point":     {block(formList64, 1, 1, 0, 0, 0, 0, 0, 0, 128, 1, 0, 0, 0), errIndex},
		"good":           {block(formList32, 1, 39, 0, 0, 0, 1, 0, 0, 0), nil},
		"empty":          {nil, nil},
	} {
		if err := replay(t, c.chunk); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func FuzzReplay(f *testing.F) {
	s, d := space.Range(0, 40), rand.New(rand.NewPCG(1, 1))
	fold, _ := NewFold(Sum[int32](), s, Exclusive)
	for range 25 {
		_ = fold.Reduce(d.Int64N(40), 1)
	}
	f.Add(fold.Encoder().Next(make([]byte, 1000)))
	_ = fold.ReduceRow(3, make([]int32, 30))
	f.Add(fold.Encoder().Next(make([]byte, 1000)))
	f.Fuzz(func(t *testing.T, chunk []byte) { _ = replay(t, chunk) })
}

// FuzzReduce compares an instance of each kind with single reductions.
func FuzzReduce(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		d := rand.New(rand.NewPCG(seed, 4))
		switch d.IntN(4) {
		case 0:
			try(Sum[int32](), small[int32])(t, d)
		case 1:
			try(Max[int64](), small[int64])(t, d)
		case 2:
			try(Xor[uint8](), small[uint8])(t, d)
		default:
			try(Prod[uint32](), small[uint32])(t, d)
		}
	})
}
