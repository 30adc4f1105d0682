package attr

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi/internal/errs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// log notes calls of functions.
type log []string

func (l *log) key(name string, fails error) *Key {
	return NewKey(Comm,
		func(from any, _ *Key, value any) (any, bool, error) {
			*l = append(*l, fmt.Sprintf("copy %s %v of %v", name, value, from))
			return value, true, nil
		},
		func(from any, _ *Key, value any) error {
			*l = append(*l, fmt.Sprintf("delete %s %v of %v", name, value, from))
			return fails
		})
}

func (l *log) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(*l, want) {
		t.Errorf("calls %q, want %q", *l, want)
	}
	*l = nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func expectClass(t *testing.T, what string, err error, want errs.Class) {
	t.Helper()
	if errs.Of(err) != want {
		t.Errorf("%s: %v, want class %d", what, err, int(want))
	}
}

func (s *Set) expect(t *testing.T, k *Key, want any) {
	t.Helper()
	got, ok, err := s.Get(k)
	if err != nil || got != want || ok != (want != nil) {
		t.Errorf("got %v, %t, %v; want %v", got, ok, err, want)
	}
}

// TestReverse frees an object: the functions are called in reverse order of setting. To set a value again puts it last.
func TestReverse(t *testing.T) {
	var l log
	s := NewSet("c", Comm, nil)
	a, b, c := l.key("a", nil), l.key("b", nil), l.key("c", nil)
	for i, k := range []*Key{b, a, c} {
		must(t, s.Put(k, i+1))
	}
	must(t, s.Put(b, 4))
	l.expect(t, "delete b 1 of c")
	must(t, s.Clear())
	l.expect(t, "delete b 4 of c", "delete c 3 of c", "delete a 2 of c")
	if s.Len() != 0 {
		t.Errorf("%d values are left", s.Len())
	}
	must(t, s.Clear())
	l.expect(t)
}

// TestDeleteFails keeps values whose function refuses: at replacement, deletion and the end.
func TestDeleteFails(t *testing.T) {
	var l log
	bomb := errs.Class(20001)
	s := NewSet("c", Comm, nil)
	first, bad, last := l.key("first", nil), l.key("bad", fmt.Errorf("no: %w", bomb)), l.key("last", nil)
	for i, k := range []*Key{first, bad, last} {
		must(t, s.Put(k, i))
	}
	expectClass(t, "replacement", s.Put(bad, 7), bomb)
	s.expect(t, bad, 1)
	expectClass(t, "deletion", s.Delete(bad), bomb)
	s.expect(t, bad, 1)
	l.expect(t, "delete bad 1 of c", "delete bad 1 of c")
	expectClass(t, "end", s.Clear(), bomb)
	l.expect(t, "delete last 2 of c", "delete bad 1 of c")
	s.expect(t, first, 0)
	s.expect(t, last, nil)
	expectClass(t, "end in any case", s.Discard(), bomb)
	l.expect(t, "delete bad 1 of c", "delete first 0 of c")
	if s.Len() != 0 {
		t.Error("a value is left")
	}
	must(t, bad.Free(Comm))
	if !bad.Gone() {
		t.Error("the key of a value that was discarded is held")
	}
	plain := NewKey(Comm, nil, func(any, *Key, any) error { return errors.New("plain") })
	must(t, s.Put(plain, 1))
	err := s.Delete(plain)
	expectClass(t, "an error without class", err, errs.Other)
	if !strings.Contains(err.Error(), "plain") {
		t.Errorf("the function's text is lost: %v", err)
	}
}

// TestCopy has the null function, the one that duplicates, one that changes the value, and one that keeps nothing.
func TestCopy(t *testing.T) {
	s, d := NewSet("s", Comm, nil), NewSet("d", Comm, nil)
	null, same := NewKey(Comm, nil, nil), NewKey(Comm, Duplicate, nil)
	changed := NewKey(Comm, func(from any, k *Key, v any) (any, bool, error) {
		s.expect(t, k, v)
		return fmt.Sprint(v, " of ", from), true, nil
	}, nil)
	nothing := NewKey(Comm, func(any, *Key, any) (any, bool, error) { return 1, false, nil }, nil)
	for i, k := range []*Key{null, same, changed, nothing} {
		must(t, s.Put(k, i+10))
	}
	must(t, s.CopyTo(d))
	d.expect(t, null, nil)
	d.expect(t, same, 11)
	d.expect(t, changed, "12 of s")
	d.expect(t, nothing, nil)
	must(t, s.Put(same, 5))
	d.expect(t, same, 11)
	must(t, d.Clear())
	for _, k := range []*Key{null, same, changed, nothing} {
		must(t, k.Free(Comm))
		if k.Gone() {
			t.Error("a key with a value is gone")
		}
		must(t, s.Delete(k))
		if !k.Gone() {
			t.Error("a freed key without a value is not gone")
		}
	}
}

// TestCopyFails takes back what was copied before, and what deletes it does not hide the first error.
func TestCopyFails(t *testing.T) {
	var l log
	s, d := NewSet("s", Comm, nil), NewSet("d", Comm, nil)
	a, b := l.key("a", nil), l.key("b", errs.Rank)
	bad := NewKey(Comm, func(any, *Key, any) (any, bool, error) { return 1, true, errs.Class(17000) }, nil)
	c := l.key("c", nil)
	for i, k := range []*Key{a, b, bad, c} {
		must(t, s.Put(k, i))
	}
	err := s.CopyTo(d)
	expectClass(t, "copy", err, 17000)
	if !errors.Is(err, errs.Rank) {
		t.Errorf("the error of the delete function is lost: %v", err)
	}
	l.expect(t, "copy a 0 of s", "copy b 1 of s", "delete b 1 of d", "delete a 0 of d")
	if d.Len() != 0 || s.Len() != 4 {
		t.Errorf("%d values are in the copy, %d in the original", d.Len(), s.Len())
	}
	must(t, s.Delete(bad))
	must(t, bad.Free(Comm))
	if !bad.Gone() {
		t.Error("the failed copy holds the key")
	}
}

// TestFree frees keys with and without values, and more than once.
func TestFree(t *testing.T) {
	var l log
	s, d := NewSet("s", Comm, nil), NewSet("d", Comm, nil)
	k := l.key("k", nil)
	must(t, s.Put(k, 1))
	must(t, k.Free(Comm))
	must(t, k.Free(Comm))
	must(t, k.Free(Comm))
	s.expect(t, k, 1)
	expectClass(t, "set under a freed key", s.Put(k, 2), errs.Keyval)
	must(t, s.CopyTo(d))
	must(t, s.Clear())
	d.expect(t, k, 1)
	must(t, d.Delete(k))
	l.expect(t, "copy k 1 of s", "delete k 1 of s", "delete k 1 of d")
	if !k.Gone() {
		t.Error("the key is not gone")
	}
	_, _, err := d.Get(k)
	for what, err := range map[string]error{
		"get": err, "put": d.Put(k, 1), "delete": d.Delete(k), "free": k.Free(Comm),
	} {
		expectClass(t, what+" of a key that is gone", err, errs.Keyval)
	}
}

// TestKinds refuses keys of another kind, and no key.
func TestKinds(t *testing.T) {
	for _, of := range []Kind{Comm, Type, Win} {
		s := NewSet("s", of, nil)
		for _, k := range []*Key{NewKey(Comm, nil, nil), NewKey(Type, nil, nil), NewKey(Win, nil, nil), nil} {
			want := errs.Keyval
			if k != nil && k.Kind() == of {
				want = errs.Success
			}
			_, _, err := s.Get(k)
			for _, err := range []error{err, s.Put(k, 1), s.Delete(k), k.Free(of)} {
				expectClass(t, fmt.Sprint(of), err, want)
			}
		}
	}
	if got := fmt.Sprint(Comm, Type, Win); got != "Comm Type Win" {
		t.Errorf("kinds are %s", got)
	}
}

// TestWithin has functions that use the object while they run.
func TestWithin(t *testing.T) {
	var l log
	s := NewSet("s", Comm, nil)
	k1, k3 := l.key("1", nil), l.key("3", nil)
	var k2 *Key
	k2 = NewKey(Comm, nil, func(_ any, k *Key, value any) error {
		s.expect(t, k2, value)
		must(t, s.Delete(k1))
		must(t, s.Delete(k3))
		must(t, s.Delete(k))
		expectClass(t, "set while it is deleted", s.Put(k, 9), errs.Keyval)
		must(t, k.Free(Comm))
		return nil
	})
	for i, k := range []*Key{k1, k2, k3} {
		must(t, s.Put(k, i))
	}
	must(t, s.Delete(k2))
	l.expect(t, "delete 1 0 of s", "delete 3 2 of s")
	if s.Len() != 0 || !k2.Gone() {
		t.Errorf("%d values are left, the key is gone: %t", s.Len(), k2.Gone())
	}
	again := l.key("again", nil)
	setter := NewKey(Comm, nil, func(any, *Key, any) error { return s.Put(again, 5) })
	must(t, s.Put(setter, 1))
	must(t, s.Clear())
	l.expect(t, "delete again 5 of s")
	clearer := NewKey(Comm, nil, func(any, *Key, any) error { return s.Clear() })
	must(t, s.Put(k1, 6))
	must(t, s.Put(clearer, 7))
	must(t, s.Clear())
	l.expect(t, "delete 1 6 of s")
}

// TestHold has a key that goes away between two steps of a goroutine.
func TestHold(t *testing.T) {
	k := NewKey(Win, nil, nil)
	if !k.holdKey() || k.Gone() {
		t.Error("a new key cannot be held")
	}
	must(t, k.Free(Win))
	k.releaseKey()
	if k.holdKey() || !k.Gone() {
		t.Error("a key that is gone can be held")
	}
}

// TestGoroutines sets and deletes values of two objects under shared keys at once. The functions use their object.
func TestGoroutines(t *testing.T) {
	var mu1, mu2 sync.Mutex
	sets := []*Set{NewSet("a", Comm, &mu1), NewSet("b", Comm, &mu2)}
	var keys []*Key
	for range 3 {
		keys = append(keys, NewKey(Comm, Duplicate, func(_ any, k *Key, _ any) error {
			for _, s := range sets {
				if _, _, err := s.Get(k); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			s := sets[g%2]
			for i := range 200 {
				k := keys[(i+g)%3]
				if err := s.Put(k, i); err != nil && errs.Of(err) != errs.Keyval {
					t.Error(err)
				}
				d := NewSet("d", Comm, nil)
				must(t, s.CopyTo(d))
				must(t, d.Clear())
				if i%3 == g {
					must(t, s.Delete(k))
				}
			}
		})
	}
	wg.Wait()
	for _, s := range sets {
		must(t, s.Clear())
	}
	for _, k := range keys {
		must(t, k.Free(Comm))
		if !k.Gone() {
			t.Error("a key is held")
		}
	}
}

// TestPredefined has the ends of the list, and what lies beside them.
func TestPredefined(t *testing.T) {
	for p, want := range map[Predefined]string{
		Invalid: " Comm false", 500: " Comm false", TagUB: "MPI_TAG_UB Comm true", AppNum: "MPI_APPNUM Comm true",
		UniverseSize: "MPI_UNIVERSE_SIZE Comm true", 508: " Comm false", 600: " Comm false",
		WinBase: "MPI_WIN_BASE Win true", WinModel: "MPI_WIN_MODEL Win true", 606: " Comm false",
	} {
		name, kind, ok := p.Lookup()
		if got := fmt.Sprint(name, " ", kind, " ", ok); got != want {
			t.Errorf("key %d is %q, want %q", int(p), got, want)
		}
	}
}
