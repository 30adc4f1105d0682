package crossing

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"go.uber.org/goleak"

	"github.com/golci/golci/internal/platform/affinity"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLinesLieApart(t *testing.T) {
	var l Lines
	if apart := unsafe.Offsetof(l.back) - unsafe.Offsetof(l.there); apart != 128 {
		t.Errorf("mailboxes are %d bytes apart, want 128: C maps the same memory", apart)
	}
	if size := unsafe.Sizeof(l); size != 256 {
		t.Errorf("Lines has %d bytes, want 256", size)
	}
}

func TestHereMeasuresAgainAndAgain(t *testing.T) {
	if affinity.Count() < 2 || runtime.GOMAXPROCS(0) < 2 {
		t.Skip("one CPU: nothing to cross")
	}
	for range 3 {
		if ns, err := Here(); ns <= 0 || err != nil {
			t.Fatalf("crossing %v ns", ns)
		}
	}
}

// The same lines serve many measurements: each begins from the sequence number where the last ended.
func TestLeadAndFollowReuseTheLines(t *testing.T) {
	lines := new(Lines)
	last := uint64(0)
	for i := range 5 {
		done := make(chan struct{})
		go func() { Follow(lines); close(done) }()
		Lead(lines)
		<-done
		seq := lines.there.Load() &^ stop
		if seq <= last {
			t.Fatalf("measurement %d: sequence went from %d to %d", i, last, seq)
		}
		if lines.there.Load()&stop == 0 || lines.back.Load() != lines.there.Load() {
			t.Fatalf("measurement %d ended without its stop mark on both lines", i)
		}
		last = seq
	}
}

func TestBetweenRefuses(t *testing.T) {
	cpu := affinity.Get()[0]
	for _, c := range [][2]int{{cpu, cpu}, {cpu, 1 << 12}, {1 << 12, cpu}} {
		if ns, err := Between(c[0], c[1]); err == nil {
			t.Errorf("CPUs %d: %v ns", c, ns)
		}
	}
}

func TestSharedIsOneMemory(t *testing.T) {
	a, f, err := create()
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	b, err := attach(os.Getpid(), int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	a.there.Store(42)
	if got := b.there.Load(); got != 42 {
		t.Errorf("read %d through the second mapping, want 42", got)
	}
}

func TestAttachOpensOnlyPages(t *testing.T) {
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "file"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := attach(os.Getpid(), int(f.Fd())); err == nil {
		t.Error("attached to somebody's file")
	}
	if _, err := attach(os.Getpid(), 1<<20); err == nil {
		t.Error("attached to a descriptor that is not open")
	}
}

// BenchmarkMemcpy copies from one buffer to another, again and again: the raw limit of a transfer that copies once.
func BenchmarkMemcpy(b *testing.B) {
	for _, size := range []int{4 << 10, 64 << 10, 1 << 20, 16 << 20} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			from, to := make([]byte, size), make([]byte, size)
			b.SetBytes(int64(size))
			for b.Loop() {
				copy(to, from)
			}
		})
	}
}
