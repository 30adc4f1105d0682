//go:build pmix && linux && (amd64 || arm64)

package pmix

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/golci/golci/internal/platform/dl"
)

// TestNoLibrary: the error of a machine without the library names it, and the package to install.
func TestNoLibrary(t *testing.T) {
	old := names
	defer func() { names = old }()
	names = []string{"libnosuchpmix.so.2"}
	_, err := Init(t.Context(), func(string) (string, bool) { return "", false })
	if !errors.Is(err, ErrLibrary) || !errors.Is(err, dl.ErrMissing) || !strings.Contains(err.Error(), "libpmix2") {
		t.Errorf("%v", err)
	}
}

// TestOtherLibrary: a library without the functions is refused, and the error names it and one of them.
func TestOtherLibrary(t *testing.T) {
	old := names
	defer func() { names = old }()
	names = []string{"libc.so.6"}
	_, err := openLibrary()
	if !errors.Is(err, ErrLibrary) || !strings.Contains(err.Error(), "libc.so.6 has no function PMIx_") {
		t.Errorf("%v", err)
	}
}

// bound opens the library, or skips the test.
func bound(t *testing.T) *library {
	t.Helper()
	l, err := openLibrary()
	if errors.Is(err, dl.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestStatus: a refusal has the library's own text, and what it means here.
func TestStatus(t *testing.T) {
	l := bound(t)
	for status, c := range map[int32]struct {
		text string
		is   error
	}{
		statusNotFound: {"FOUND", ErrNoKey}, statusConnected: {"LOST", ErrLost}, statusUnreach: {"UNREACH", ErrLost},
		-27: {"BAD", nil},
	} {
		err := l.checkStatus("PMIx_X", status)
		if err == nil || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), "PMIx_X") {
			t.Errorf("%d: %v", status, err)
		}
		if c.is != nil && !errors.Is(err, c.is) || c.is == nil && (errors.Is(err, ErrLost) || errors.Is(err, ErrNoKey)) {
			t.Errorf("%d: %v is not, or is, one of this package's", status, err)
		}
	}
	if err := l.checkStatus("PMIx_X", statusSuccess); err != nil {
		t.Error(err)
	}
}

// TestTake: values that C has made come over whole, and those that are too long or unknown do not.
func TestTake(t *testing.T) {
	l := bound(t)
	for _, c := range []struct {
		kind  uint16
		data  string
		size  uintptr
		limit int
		want  string
		ok    bool
	}{
		{typeByteObject, "a\x00b", 3, 3, "a\x00b", true},
		{typeByteObject, "abc", 3, 2, "", false},
		{typeByteObject, "", 0, 0, "", true},
		{typeString, "0,1\x00", 0, 10, "0,1", true},
		{typeString, "0,1\x00", 0, 2, "", false},
		{99, "abc", 3, 10, "", true},
	} {
		at := cMemory(t, unsafe.Sizeof(value{}))
		v := value{kind: c.kind, size: c.size}
		if c.data != "" {
			v.data = cMemory(t, uintptr(len(c.data)))
			copy(unsafe.Slice((*byte)(foreignMemory(v.data)), len(c.data)), c.data)
		}
		*(*value)(foreignMemory(at)) = v
		got, err := l.takeValue(at, c.limit)
		if string(got.bytes) != c.want || (err == nil) != c.ok || err != nil && !errors.Is(err, ErrServer) {
			t.Errorf("%+v: %q, %v", c, got.bytes, err)
		}
	}
	if _, err := l.takeValue(0, 1); !errors.Is(err, ErrServer) {
		t.Errorf("no value: %v", err)
	}
}

// cMemory is malloc.
func cMemory(t *testing.T, n uintptr) uintptr {
	t.Helper()
	libc, err := dl.Open("libc.so.6")
	if err != nil {
		t.Fatal(err)
	}
	malloc, err := libc.Symbol("malloc")
	if err != nil {
		t.Fatal(err)
	}
	return callFunction(malloc, nil, n)
}

func TestGoString(t *testing.T) {
	if goString(0) != "" {
		t.Error("of no string")
	}
	text := slices.Concat([]byte("two words"), []byte{0, 'x'})
	if s := goString(uintptr(unsafe.Pointer(&text[0]))); s != "two words" {
		t.Errorf("%q", s)
	}
}
