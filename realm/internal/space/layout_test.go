package space

import (
	"errors"
	"testing"
	"unsafe"
)

var xyz = []Field{{"x", 1, 1}, {"y", 8, 8}, {"z", 4, 4}}

// TestAOS has the offsets of Go's own structures.
func TestAOS(t *testing.T) {
	type element struct {
		x byte
		y float64
		z float32
	}
	var array [6][7]element
	l, err := AOS(Grid(6, 7), xyz)
	if err != nil || l.Size() != int64(unsafe.Sizeof(array)) || l.Align() != 8 {
		t.Fatalf("%v, %d bytes, want %d", err, l.Size(), unsafe.Sizeof(array))
	}
	for p := range l.Space().All() {
		e := &array[p[0]][p[1]]
		for f, want := range []unsafe.Pointer{unsafe.Pointer(&e.x), unsafe.Pointer(&e.y), unsafe.Pointer(&e.z)} {
			if got := l.Offset(p, f); got != int64(uintptr(want)-uintptr(unsafe.Pointer(&array))) {
				t.Fatalf("field %d of %v at %d", f, p, got)
			}
		}
	}
	column, _ := AOS(Grid(6, 7), xyz, 1, 0)
	if got := column.Offset(Point{1, 2}, 1); got != 24*(2*6+1)+8 {
		t.Errorf("column-major: %d", got)
	}
	for _, p := range []Point{{6, 0}, {-1, 0}, {0, 7}, {0, 0, 1}} {
		if got := l.Offset(p, 0); got != -1 {
			t.Errorf("%v at %d", p, got)
		}
	}
	if l.Offset(Point{}, 3) != -1 || l.Offset(Point{}, -1) != -1 || l.Field("z") != 2 || l.Field("w") != -1 {
		t.Error("fields")
	}
}

// TestLayouts: the elements of random layouts are aligned, within the memory, and apart from each other.
func TestLayouts(t *testing.T) {
	seeds(t, 300, func(t *testing.T, d die) {
		l := d.layout(t, d.space(1+d.IntN(3)), d.fields())
		used := make([]byte, l.Size())
		for p := range l.space.All() {
			for f, x := range l.fields {
				off := l.Offset(p, f)
				if off < 0 || off%x.Align != 0 || off+x.Size > l.Size() {
					t.Fatalf("%v: field %d of %v at %d of %d", l.space, f, p, off, l.Size())
				}
				for i := range x.Size {
					if used[off+i]++; used[off+i] > 1 {
						t.Fatalf("%v: field %d of %v at %d overlaps", l.space, f, p, off)
					}
				}
			}
		}
		if err := l.checkPlaces(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestBadLayouts(t *testing.T) {
	row := Range(0, 10)
	one := []Field{{"v", 8, 8}}
	strided := func(s Space, base, size int64, strides ...int64) error {
		_, err := Strided(s, one, []Place{{base, strides}}, size)
		return err
	}
	_, none := AOS(row, nil)
	_, twice := SOA(row, []Field{{"a", 8, 8}, {"a", 8, 8}})
	_, align := SOA(row, []Field{{"a", 8, 3}})
	_, size := SOA(row, []Field{{"a", 0, 1}})
	_, order := AOS(Grid(2, 2), one, 0, 0)
	_, short := SOA(Grid(2, 2), one, 1)
	_, large := AOS(Range(0, MaxCoord), []Field{{"a", 1 << 10, 8}})
	_, larger := SOA(Range(0, MaxCoord), []Field{{"a", 32, 8}, {"b", 64, 8}})
	_, places := Strided(row, one, nil, 80)
	for name, err := range map[string]error{
		"no fields": none, "one name": twice, "alignment": align, "size": size, "order": order, "short order": short,
		"large": large, "larger": larger, "places": places,
		"strides":         strided(row, 0, 80),
		"many strides":    strided(row, 0, 80, 8, 8),
		"past the end":    strided(row, 8, 80, 8),
		"before 0":        strided(row, 64, 80, -8),
		"unaligned":       strided(row, 4, 100, 8),
		"unaligned steps": strided(row, 0, 200, 12),
		"overlap":         strided(row, 0, 200, 0),
		"overlapping":     strided(Grid(3, 3), 0, 800, 16, 8),
		"least stride":    strided(row, 0, 200, -1<<63),
		"far":             strided(row, 0, -1, 1<<50),
		"far base":        strided(row, 1<<62, -1, 8),
	} {
		if !errors.Is(err, errLayout) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := strided(row, 72, 80, -8); err != nil {
		t.Error(err)
	}
	if err := strided(Indices(1, 5, 9), 0, 40, 16); err != nil {
		t.Error(err)
	}
}

func TestTrack(t *testing.T) {
	seeds(t, 200, func(t *testing.T, d die) {
		l := d.layout(t, d.space(1+d.IntN(3)), d.fields())
		s, f := d.part(l.space), d.IntN(len(l.fields))
		track, err := l.Track(s, f)
		if err != nil || track.Count() != s.Count() {
			t.Fatalf("%v, %d points", err, track.Count())
		}
		var all []int64
		for p := range s.All() {
			all = append(all, l.Offset(p, f))
		}
		for n, want := range all {
			off, run := track.Find(int64(n))
			if off != want || run < 1 || run > int64(len(all)-n) {
				t.Fatalf("point %d at %d, run %d; want %d", n, off, run, want)
			}
			if last := all[n+int(run)-1]; last != off+(run-1)*track.Step() {
				t.Fatalf("point %d at %d, %d bytes apart: the last of %d at %d", n, off, track.Step(), run, last)
			}
		}
		if off, ok := track.Linear(); ok && len(all) > 0 && off != all[0] {
			t.Fatalf("linear from %d, want %d", off, all[0])
		}
	})
	l, _ := AOS(Range(0, 4), xyz)
	if _, err := l.Track(Range(0, 5), 0); !errors.Is(err, ErrPoints) {
		t.Error(err)
	}
	if _, err := l.Track(Range(0, 4), 3); !errors.Is(err, ErrFields) {
		t.Error(err)
	}
}
