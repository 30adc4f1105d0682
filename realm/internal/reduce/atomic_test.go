package reduce

import (
	"sync"
	"testing"

	"github.com/golci/golci/realm/internal/space"
)

// together runs f n times at once.
func together(n int, f func(k int64)) {
	var wg sync.WaitGroup
	for k := range int64(n) {
		wg.Go(func() { f(k) })
	}
	wg.Wait()
}

// TestAtomicFold has several goroutines reduce into few points of one instance.
func TestAtomicFold(t *testing.T) {
	const tasks, each, n = 4, 3000, 5 * pageLen
	s := space.Range(0, n)
	sum, _ := NewFold(Sum[int64](), s, Atomic)
	most, _ := NewFold(Max[float32](), s, Atomic)
	together(tasks, func(k int64) {
		for i := range int64(each) {
			_ = sum.Reduce(i*7%n, 1)
			_ = most.Reduce(i%3, float32(k*each+i))
		}
		_ = sum.ReduceAll([]int64{1, 2}, []int64{k, k})
		_ = sum.ReduceRow(pageLen-1, []int64{k, k})
	})
	data := make([]int64, n)
	lay, _ := space.SOA(s, []space.Field{{Name: "v", Size: 8, Align: 8}})
	to, err := sum.op.Onto(bytesOf(data), lay, 0, s, Exclusive)
	if err != nil {
		t.Fatal(err)
	}
	if err := sum.Apply(to); err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for _, v := range data {
		total += v
	}
	if want := int64(tasks*each + 4*(0+1+2+3)); total != want {
		t.Errorf("sum %d, want %d", total, want)
	}
	for i := range int64(3) {
		if v, ok := most.Value(i); !ok || v < (tasks-1)*each+each-4 {
			t.Errorf("point %d: %v, %v", i, v, ok)
		}
	}
}

// TestAtomicPages: several goroutines reduce into points that lie far apart, up to what the logs of their pages have
// room for. That makes no page. One reduction more makes one, and none is lost, also when the instance is used again.
func TestAtomicPages(t *testing.T) {
	const tasks, pages = 4, 100
	f, err := NewFold(Sum[int64](), space.Range(0, pages*pageLen), Atomic)
	if err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		together(tasks, func(k int64) {
			for i := range int64(pages * logLen / tasks) {
				_ = f.Reduce(i%pages*pageLen+(i+k)%3*300, 1)
			}
		})
		made, logs := pagesOf(f)
		if made != round || logs != pages {
			t.Errorf("round %d: %d pages, %d logs", round, made, logs)
		}
		together(tasks, func(int64) { _ = f.Reduce(7*pageLen, 1) })
		if made, _ := pagesOf(f); made != 1 {
			t.Errorf("round %d: %d pages for a log that is full", round, made)
		}
		total := int64(0)
		for s := f.sweep(); ; {
			_, v := s.nextRow(pageLen)
			if len(v) == 0 {
				break
			}
			for _, x := range v {
				total += x
			}
		}
		if want := int64(pages*logLen + tasks); total != want || f.isTouched() != 3*pages {
			t.Errorf("round %d: sum %d of %d, %d points", round, total, want, f.isTouched())
		}
		f.Reset()
	}
}

// TestAtomicApply has several instances applied to the same data at once.
func TestAtomicApply(t *testing.T) {
	const tasks, n = 4, 300
	s := space.Range(0, n)
	lay, _ := space.AOS(s, []space.Field{{Name: "v", Size: 4, Align: 4}, {Name: "w", Size: 1, Align: 1}})
	data := make([]uint32, lay.Size()/4)
	op := Sum[uint32]()
	together(tasks, func(k int64) {
		to, err := op.Onto(bytesOf(data), lay, 0, s, Atomic)
		if err != nil {
			t.Error(err)
			return
		}
		f, _ := NewFold(op, s, Exclusive)
		l, _ := NewList(op, s)
		for i := range int64(10 * n) {
			_ = f.Reduce(i%n, 1)
			_ = l.Reduce(i*7%n, 1)
		}
		if err := f.Apply(to); err != nil {
			t.Error(err)
		}
		if err := l.Apply(to); err != nil {
			t.Error(err)
		}
		chunk := l.Encoder().Next(make([]byte, 1<<20))
		if err := to.Replay(chunk); err != nil {
			t.Error(err)
		}
	})
	for i := range n {
		if data[2*i] != tasks*30 {
			t.Fatalf("point %d: %d, want %d", i, data[2*i], tasks*30)
		}
	}
}

// TestJoin has a list of each task become one.
func TestJoin(t *testing.T) {
	const tasks, each = 4, 2500
	s := space.Range(0, 10)
	op := Sum[int64]()
	lists := make([]*List[int64, int64], tasks)
	together(tasks, func(k int64) {
		lists[k], _ = NewList(op, s)
		for i := range int64(each) {
			_ = lists[k].Reduce(i%10, 1)
		}
	})
	for _, l := range lists[1:] {
		if err := lists[0].Join(l); err != nil || l.Len() != 0 {
			t.Fatal(err, l.Len())
		}
	}
	if err := lists[0].Reduce(3, 100); err != nil {
		t.Fatal(err)
	}
	lay, _ := space.SOA(s, []space.Field{{Name: "v", Size: 8, Align: 8}})
	data := make([]int64, 10)
	to, _ := op.Onto(bytesOf(data), lay, 0, s, Exclusive)
	if err := lists[0].Apply(to); err != nil || lists[0].Len() != tasks*each+1 {
		t.Fatal(err, lists[0].Len())
	}
	for i, v := range data {
		want := int64(tasks * each / 10)
		if i == 3 {
			want += 100
		}
		if v != want {
			t.Errorf("point %d: %d, want %d", i, v, want)
		}
	}
}
