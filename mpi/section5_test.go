package mpi

import (
	"bytes"
	"errors"
	"slices"
	"unsafe"

	"github.com/golci/golci/mpi/internal/dtype"
)

// layout is what the standard says of the sizes of a type.
type layout struct {
	size, lb, extent, trueLb, trueExtent int64
}

// layoutOf measures a type, which comes with the error of its making.
func layoutOf(t *dtype.Type, err error) (layout, error) {
	if err != nil {
		return layout{}, err
	}
	l := layout{size: t.Size()}
	l.lb, l.extent = t.Bounds()
	l.trueLb, l.trueExtent = t.TrueBounds()
	return l, nil
}

// typeRule has the sizes of what make gives.
func typeRule(section, name string, want layout, made func() (*dtype.Type, error)) rule {
	return rule{section, name, 1, func(*Comm) error {
		got, err := layoutOf(made())
		return errors.Join(err, is("size, bounds", got, want))
	}}
}

func list(n ...int64) []int64 { return n }

// Types of the rules.
var (
	int32Type  = dtype.Named(dtype.Int32)
	int16Type  = dtype.Named(dtype.Int16)
	oneByte    = dtype.Named(dtype.Byte)
	doubleType = dtype.Named(dtype.Double)
)

type typeMade = func() (*dtype.Type, error)

// then makes a type of a type.
func then(t *dtype.Type, err error, f func(t *dtype.Type) (*dtype.Type, error)) (*dtype.Type, error) {
	if err != nil {
		return nil, err
	}
	return f(t)
}

// column is one of the columns of a matrix with rows of n numbers, as wide as one number.
func column(rows, n int64) (*dtype.Type, error) {
	t, err := dtype.Vector(rows, 1, n, int32Type)
	return then(t, err, func(t *dtype.Type) (*dtype.Type, error) { return dtype.Resized(0, 4, t) })
}

// typeRules are those of sizes and bounds (5.1).
func typeRules() []rule {
	return []rule{
		typeRule("3.2.2", "a predefined type", layout{8, 0, 8, 0, 8}, func() (*dtype.Type, error) { return doubleType, nil }),
		typeRule("5.1.2", "contiguous", layout{12, 0, 12, 0, 12}, func() (*dtype.Type, error) {
			return dtype.Contiguous(3, int32Type)
		}),
		typeRule("5.1.2", "contiguous, none", layout{}, func() (*dtype.Type, error) {
			return dtype.Contiguous(0, int32Type)
		}),
		typeRule("5.1.2", "vector", layout{24, 0, 40, 0, 40}, func() (*dtype.Type, error) {
			return dtype.Vector(3, 2, 4, int32Type)
		}),
		typeRule("5.1.2", "vector, backwards", layout{24, -32, 40, -32, 40}, func() (*dtype.Type, error) {
			return dtype.Vector(3, 2, -4, int32Type)
		}),
		typeRule("5.1.2", "vector, one block", layout{8, 0, 8, 0, 8}, func() (*dtype.Type, error) {
			return dtype.Vector(1, 2, 9, int32Type)
		}),
		typeRule("5.1.2", "hvector", layout{24, 0, 28, 0, 28}, func() (*dtype.Type, error) {
			return dtype.Hvector(3, 2, 10, int32Type)
		}),
		typeRule("5.1.2", "indexed", layout{16, 4, 32, 4, 32}, func() (*dtype.Type, error) {
			return dtype.Indexed(list(1, 3), list(8, 1), int32Type)
		}),
		typeRule("5.1.2", "indexed, an empty block does not count", layout{4, 8, 4, 8, 4}, func() (*dtype.Type, error) {
			return dtype.Indexed(list(0, 1), list(-50, 2), int32Type)
		}),
		typeRule("5.1.2", "hindexed", layout{16, 3, 21, 3, 21}, func() (*dtype.Type, error) {
			return dtype.Hindexed(list(1, 3), list(20, 3), int32Type)
		}),
		typeRule("5.1.2", "indexed blocks", layout{16, -4, 28, -4, 28}, func() (*dtype.Type, error) {
			return dtype.IndexedBlock(2, list(4, -1), int32Type)
		}),
		typeRule("5.1.2", "hindexed blocks", layout{16, 0, 17, 0, 17}, func() (*dtype.Type, error) {
			return dtype.HindexedBlock(2, list(0, 9), int32Type)
		}),
		typeRule("5.1.2", "struct, padded to the alignment", layout{9, 0, 16, 0, 9}, func() (*dtype.Type, error) {
			return dtype.Struct(list(1, 1), list(0, 8), []*dtype.Type{doubleType, oneByte})
		}),
		typeRule("5.1.2", "struct of shorts", layout{3, 0, 4, 0, 3}, func() (*dtype.Type, error) {
			return dtype.Struct(list(1, 1), list(0, 2), []*dtype.Type{int16Type, oneByte})
		}),
		typeRule("5.1.2", "struct of nothing", layout{}, func() (*dtype.Type, error) { return dtype.Struct(nil, nil, nil) }),
		typeRule("5.1.3", "subarray has the extent of the array", layout{24, 0, 80, 24, 32}, func() (*dtype.Type, error) {
			return dtype.Subarray(list(4, 5), list(2, 3), list(1, 1), dtype.OrderC, int32Type)
		}),
		typeRule("5.1.3", "subarray, first index fastest", layout{24, 0, 80, 20, 40}, func() (*dtype.Type, error) {
			return dtype.Subarray(list(4, 5), list(2, 3), list(1, 1), dtype.OrderFortran, int32Type)
		}),
		typeRule("5.1.4", "darray in blocks", layout{16, 0, 32, 16, 16}, func() (*dtype.Type, error) {
			return dtype.Darray(2, 1, list(8), []dtype.Distribution{dtype.DistributeBlock}, []int64{dtype.DistributeDefault},
				list(2), dtype.OrderC, int32Type)
		}),
		typeRule("5.1.4", "darray in turns", layout{16, 0, 32, 4, 28}, func() (*dtype.Type, error) {
			return dtype.Darray(2, 1, list(8), []dtype.Distribution{dtype.DistributeCyclic}, []int64{dtype.DistributeDefault},
				list(2), dtype.OrderC, int32Type)
		}),
		typeRule("5.1.7", "resized", layout{4, -4, 20, 0, 4}, func() (*dtype.Type, error) {
			return dtype.Resized(-4, 20, int32Type)
		}),
		typeRule("5.1.7", "contiguous of resized", layout{12, -4, 60, 0, 44}, func() (*dtype.Type, error) {
			t, err := dtype.Resized(-4, 20, int32Type)
			return then(t, err, func(t *dtype.Type) (*dtype.Type, error) { return dtype.Contiguous(3, t) })
		}),
		typeRule("5.1.7", "a negative extent", layout{8, -4, 8, -4, 8}, func() (*dtype.Type, error) {
			t, err := dtype.Resized(0, -4, int32Type)
			return then(t, err, func(t *dtype.Type) (*dtype.Type, error) {
				two, err := dtype.Contiguous(2, t)
				return then(two, err, func(t *dtype.Type) (*dtype.Type, error) { return dtype.Resized(-4, 8, t) })
			})
		}),
		typeRule("5.1.8", "the true extent is that of the data", layout{12, 0, 4, 0, 44}, func() (*dtype.Type, error) {
			return column(3, 5)
		}),
		typeRule("5.1.10", "a duplicate", layout{24, 0, 40, 0, 40}, func() (*dtype.Type, error) {
			t, err := dtype.Vector(3, 2, 4, int32Type)
			return then(t, err, dtype.Dup)
		}),
		typeRule("5.1.14", "a value with an index", layout{12, 0, 16, 0, 12}, func() (*dtype.Type, error) {
			return dtype.ValueIndex(doubleType, dtype.Named(dtype.Int))
		}),
		badType("5.1.2", "a negative count", func() (*dtype.Type, error) { return dtype.Contiguous(-1, int32Type) }),
		badType("5.1.2", "a negative block", func() (*dtype.Type, error) { return dtype.Vector(1, -1, 1, int32Type) }),
		badType("5.1.3", "a subarray beyond the array", func() (*dtype.Type, error) {
			return dtype.Subarray(list(4), list(3), list(2), dtype.OrderC, int32Type)
		}),
		badType("5.1.4", "blocks that are too small", func() (*dtype.Type, error) {
			return dtype.Darray(2, 0, list(8), []dtype.Distribution{dtype.DistributeBlock}, list(3), list(2), dtype.OrderC,
				int32Type)
		}),
		badType("5.1.4", "a grid of another size", func() (*dtype.Type, error) {
			return dtype.Darray(3, 0, list(8), []dtype.Distribution{dtype.DistributeBlock}, []int64{dtype.DistributeDefault},
				list(2), dtype.OrderC, int32Type)
		}),
		{"5.1.9", "a type is used after commit only", 1, func(*Comm) error {
			t, err := dtype.Vector(3, 2, 4, int32Type)
			if err != nil {
				return err
			}
			before := t.Committed()
			t.Commit()
			return errors.Join(is("before", before, false), is("after", t.Committed(), true),
				is("predefined", int32Type.Committed(), true))
		}},
		{"5.1.11", "basics of a part of a message", 1, func(*Comm) error {
			t, err := dtype.Struct(list(1, 1), list(0, 8), []*dtype.Type{doubleType, int16Type})
			if err != nil {
				return err
			}
			n, whole := t.Elements(18)
			_, part := t.Elements(19)
			count, all := t.Count(20)
			_, odd := t.Count(18)
			return errors.Join(is("basics", n, 3), is("whole", whole, true), is("part", part, false), is("count", count, 2),
				is("all", all, true), is("odd", odd, false))
		}},
		{"5.1.13", "a type tells how it was made", 1, func(*Comm) error {
			t, err := dtype.Indexed(list(1, 3), list(8, 1), int32Type)
			if err != nil {
				return err
			}
			by, ints, addrs, _, types := t.Envelope()
			got, _, _, of, err := t.Contents()
			return errors.Join(err, is("combiner", by, dtype.CombinerIndexed), is("integers", ints, 5),
				is("addresses", addrs, 0),
				is("types", types, 1), listIs("contents", got, list(2, 1, 3, 8, 1)), is("of", of[0], int32Type))
		}},
		{"5.1.13", "a named type has no contents", 1, func(*Comm) error {
			by, _, _, _, _ := int32Type.Envelope()
			_, _, _, _, err := int32Type.Contents()
			return errors.Join(is("combiner", by, dtype.CombinerNamed), is("class", Class(err), ClassType))
		}},
		{"3.3.1", "signatures do not know of places", 1, func(*Comm) error {
			a, err := dtype.Vector(3, 2, 4, int32Type)
			b, bad := dtype.Struct(list(1, 1), list(0, 8), []*dtype.Type{doubleType, int32Type})
			if err = errors.Join(err, bad); err != nil {
				return err
			}
			return errors.Join(is("vector", a.Sig(2) == int32Type.Sig(12), true),
				is("shorter", a.Sig(2) == int32Type.Sig(11), false),
				is("struct", b.Sig(1) == int32Type.Sig(3), false))
		}},
	}
}

// badType is one that cannot be made.
func badType(section, name string, made typeMade) rule {
	return rule{section, name, 1, func(*Comm) error {
		t, err := made()
		return errors.Join(is("refused", err != nil, true), is("no type", t == nil, true))
	}}
}

// packed is the numbers of memory that count elements of a type pick.
func packed(mem []int32, at int, count int64, t *dtype.Type, err error) ([]int32, error) {
	if err != nil {
		return nil, err
	}
	t.Commit()
	var c dtype.Cursor
	t.Over(&c, unsafe.Pointer(&mem[at]), count)
	out := make([]byte, c.Len())
	c.Pack(out, 0)
	got := make([]int32, len(out)/4)
	for i := range got {
		got[i] = *(*int32)(unsafe.Pointer(&out[4*i]))
	}
	// What is unpacked elsewhere is packed again.
	other := make([]int32, len(mem))
	var back dtype.Cursor
	t.Over(&back, unsafe.Pointer(&other[at]), count)
	back.Unpack(out, 0)
	again := make([]byte, back.Len())
	back.Pack(again, 0)
	return got, is("unpacked and packed", bytes.Equal(out, again), true)
}

// packRule tells which of the numbers 0 to 39 a type picks, from number at on.
func packRule(section, name string, at int, count int64, want []int32, made typeMade) rule {
	return rule{section, name, 1, func(*Comm) error {
		t, err := made()
		got, err := packed(upTo(0, 40), at, count, t, err)
		return errors.Join(err, listIs("numbers", got, want))
	}}
}

// external checks the bytes of external32.
func external(t *dtype.Type, mem unsafe.Pointer, count int64, want []byte) error {
	got := make([]byte, dtype.ExternalSize(t, count))
	n, err := dtype.PackExternal(got, t, mem, count)
	return errors.Join(err, is("length", n, int64(len(want))), is("bytes", slices.Equal(got, want), true))
}

// packRules are those of what types pick, in which order, and of packed data (5.1, 5.2).
func packRules() []rule {
	return []rule{
		packRule("5.1.2", "a vector picks", 0, 1, []int32{0, 1, 4, 5, 8, 9}, func() (*dtype.Type, error) {
			return dtype.Vector(3, 2, 4, int32Type)
		}),
		packRule("5.1.2", "two vectors pick", 0, 2, []int32{0, 1, 4, 5, 6, 7, 10, 11}, func() (*dtype.Type, error) {
			return dtype.Vector(2, 2, 4, int32Type)
		}),
		packRule("5.1.2", "a backward vector picks", 9, 1, []int32{9, 6, 3}, func() (*dtype.Type, error) {
			return dtype.Vector(3, 1, -3, int32Type)
		}),
		packRule("5.1.2", "an index picks in its order", 0, 1, []int32{8, 1, 2, 3}, func() (*dtype.Type, error) {
			return dtype.Indexed(list(1, 3), list(8, 1), int32Type)
		}),
		packRule("5.1.2", "indexed blocks pick", 5, 1, []int32{9, 10, 4, 5}, func() (*dtype.Type, error) {
			return dtype.IndexedBlock(2, list(4, -1), int32Type)
		}),
		packRule("5.1.2", "a struct of vectors picks", 0, 1, []int32{20, 1, 3}, func() (*dtype.Type, error) {
			v, err := dtype.Vector(2, 1, 2, int32Type)
			return then(v, err, func(v *dtype.Type) (*dtype.Type, error) {
				return dtype.Struct(list(1, 1), list(80, 4), []*dtype.Type{int32Type, v})
			})
		}),
		packRule("5.1.3", "a subarray picks", 0, 1, []int32{6, 7, 8, 11, 12, 13}, func() (*dtype.Type, error) {
			return dtype.Subarray(list(4, 5), list(2, 3), list(1, 1), dtype.OrderC, int32Type)
		}),
		packRule("5.1.3", "a subarray of Fortran picks", 0, 1, []int32{5, 6, 9, 10, 13, 14}, func() (*dtype.Type, error) {
			return dtype.Subarray(list(4, 5), list(2, 3), list(1, 1), dtype.OrderFortran, int32Type)
		}),
		packRule("5.1.4", "a darray in turns of two picks", 0, 1, []int32{2, 3, 6, 7}, func() (*dtype.Type, error) {
			return dtype.Darray(2, 1, list(8), []dtype.Distribution{dtype.DistributeCyclic}, list(2), list(2), dtype.OrderC,
				int32Type)
		}),
		packRule("5.1.4", "the last block of a darray is shorter", 0, 1, []int32{6, 7, 8}, func() (*dtype.Type, error) {
			return dtype.Darray(2, 1, list(9), []dtype.Distribution{dtype.DistributeBlock}, list(6), list(2), dtype.OrderC,
				int32Type)
		}),
		packRule("5.1.4", "a darray dealt along one dimension picks", 0, 1, []int32{3, 4, 5}, func() (*dtype.Type, error) {
			return dtype.Darray(2, 1, list(2, 3), []dtype.Distribution{dtype.DistributeBlock, dtype.DistributeNone},
				[]int64{dtype.DistributeDefault, dtype.DistributeDefault}, list(2, 1), dtype.OrderC, int32Type)
		}),
		packRule("5.1.7", "columns lie side by side", 0, 2, []int32{0, 5, 10, 1, 6, 11}, func() (*dtype.Type, error) {
			return column(3, 5)
		}),
		packRule("5.1.7", "a resized type steps by its extent", 0, 3, []int32{0, 3, 6}, func() (*dtype.Type, error) {
			return dtype.Resized(0, 12, int32Type)
		}),
		packRule("5.1.10", "a duplicate picks the same", 0, 1, []int32{0, 4, 8}, func() (*dtype.Type, error) {
			t, err := dtype.Vector(3, 1, 4, int32Type)
			return then(t, err, dtype.Dup)
		}),
		packRule("5.2", "no elements", 0, 0, []int32{}, func() (*dtype.Type, error) {
			return dtype.Contiguous(3, int32Type)
		}),
		{"5.2", "packed in pieces", 1, func(*Comm) error {
			t, err := dtype.Vector(3, 2, 4, int32Type)
			if err != nil {
				return err
			}
			t.Commit()
			mem := upTo(0, 40)
			var c dtype.Cursor
			t.Over(&c, unsafe.Pointer(&mem[0]), 2)
			whole, pieces := make([]byte, c.Len()), make([]byte, c.Len())
			c.Pack(whole, 0)
			for i := 0; i < len(pieces); i += 7 {
				c.Pack(pieces[i:min(i+7, len(pieces))], i)
			}
			return is("pieces", bytes.Equal(whole, pieces), true)
		}},
		{"5.3", "external32 is big-endian", 1, func(*Comm) error {
			x := int32(0x01020304)
			return external(int32Type, unsafe.Pointer(&x), 1, []byte{1, 2, 3, 4})
		}},
		{"5.3", "external32 of doubles", 1, func(*Comm) error {
			x := []float64{1, -2}
			return external(doubleType, unsafe.Pointer(&x[0]), 2,
				[]byte{0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0})
		}},
		{"5.3", "external32 has no holes", 1, func(*Comm) error {
			t, err := dtype.Struct(list(1, 1), list(0, 4), []*dtype.Type{oneByte, int32Type})
			if err != nil {
				return err
			}
			x := struct {
				A byte
				B int32
			}{7, 1}
			return external(t, unsafe.Pointer(&x), 1, []byte{7, 0, 0, 0, 1})
		}},
		{"5.3", "external32 comes back", 1, func(*Comm) error {
			a, b := []int16{1, -2, 300}, make([]int16, 3)
			mem := make([]byte, 6)
			_, err := dtype.PackExternal(mem, int16Type, unsafe.Pointer(&a[0]), 3)
			n, bad := dtype.UnpackExternal(int16Type, unsafe.Pointer(&b[0]), 3, mem)
			return errors.Join(err, bad, is("read", n, 6), listIs("numbers", b, a))
		}},
		{"5.3", "external32 without room", 1, func(*Comm) error {
			a := []int16{1, 2}
			_, err := dtype.PackExternal(make([]byte, 3), int16Type, unsafe.Pointer(&a[0]), 2)
			return is("class", Class(err), ClassTruncate)
		}},
	}
}

// strided sends part from of 0 to 39 to the rank behind, into part to of zeros.
func strided(from, to Strided, want func(buf []int32) error) func(c *Comm) error {
	return func(c *Comm) error {
		buf := make([]int32, 40)
		r, err := IrecvStrided(c, buf, to, left(c), 1)
		err = errors.Join(err, SendStrided(c, upTo(0, 40), from, right(c), 1), done(r, nil))
		return errors.Join(err, want(buf))
	}
}

// picks checks what lies at places of a buffer, and that the rest is zero.
func picks(at []int, values []int32) func(buf []int32) error {
	want := make([]int32, 40)
	for i, p := range at {
		want[p] = values[i]
	}
	return func(buf []int32) error { return listIs("buffer", buf, want) }
}

// stridedRules are those of messages with holes on one side or both (5.1.2, 3.3.1).
func stridedRules() []rule {
	return []rule{
		{"5.1.2", "a column into a row", 3, strided(Strided{3, 1, 5}, Strided{1, 3, 3},
			picks([]int{0, 1, 2}, []int32{0, 5, 10}))},
		{"5.1.2", "a row into a column", 4, strided(Strided{1, 3, 3}, Strided{3, 1, 5},
			picks([]int{0, 5, 10}, []int32{0, 1, 2}))},
		{
			"5.1.2", "blocks into other blocks", 2,
			strided(Strided{3, 2, 4}, Strided{2, 3, 10}, picks([]int{0, 1, 2, 10, 11, 12},
				[]int32{0, 1, 4, 5, 8, 9})),
		},
		{"5.1.2", "no blocks", 5, strided(Strided{}, Strided{}, picks(nil, nil))},
		{
			"5.1.2", "fewer blocks than there is room for", 1,
			strided(Strided{2, 1, 3}, Strided{4, 1, 2}, picks([]int{0, 2}, []int32{0, 3})),
		},
		{"5.1.2", "a part outside of its slice", 1, func(c *Comm) error {
			return fails("SendStrided", SendStrided(c, upTo(0, 4), Strided{3, 1, 2}, 0, 0), ErrCount)
		}},
		{"5.1.2", "a part of negative length", 1, func(c *Comm) error {
			return fails("SendStrided", SendStrided(c, upTo(0, 4), Strided{-1, 1, 2}, 0, 0), ErrCount)
		}},
		{"3.3.1", "a slice meets a part with as many elements", 2, pairOf(func(c *Comm) error {
			return Send(c, upTo(1, 3), 1, 0)
		}, func(c *Comm) error {
			buf := make([]int32, 7)
			_, err := RecvStrided(c, buf, Strided{3, 1, 3}, 0, 0)
			return errors.Join(err, listIs("buffer", buf, []int32{1, 0, 0, 2, 0, 0, 3}))
		})},
		{"3.3.1", "a part that is too long", 2, pairOf(func(c *Comm) error {
			return SendStrided(c, upTo(1, 9), Strided{3, 2, 3}, 1, 0)
		}, func(c *Comm) error {
			_, err := Recv(c, make([]int32, 5), 0, 0)
			return fails("Recv", err, ErrTruncate)
		})},
		{"3.3.1", "long parts on both sides", 6, func(c *Comm) error {
			from, to := upTo(int32(c.Rank()), 60_000), make([]int32, 90_000)
			r, err := IrecvStrided(c, to, Strided{30_000, 1, 3}, left(c), 1)
			err = errors.Join(err, SendStrided(c, from, Strided{30_000, 1, 2}, right(c), 1), done(r, nil))
			for i := range 30_000 {
				if to[3*i] != int32(left(c)+2*i) || to[3*i+1] != 0 {
					return errors.Join(err, is("element", to[3*i], int32(left(c)+2*i)), is("hole", to[3*i+1], 0))
				}
			}
			return err
		}},
	}
}
