package sentinel

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi/internal/errs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestEachHasAPlace: each error of the package stands in the table once, or among those without a class.
func TestEachHasAPlace(t *testing.T) {
	declared, err := os.ReadFile("sentinel.go")
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile("classes.go")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`(?m)^(?:\t|var )(Err\w+)\s+(?:error )?=`).FindAllStringSubmatch(string(declared), -1)
	if len(names) < 25 {
		t.Fatalf("found %d errors", len(names))
	}
	for _, n := range names {
		want := 1
		if n[1] == "ErrElements" { // which wraps two others
			want = 0
		}
		if got := len(regexp.MustCompile(`(?m)^\t[^/\n]*\b`+n[1]+`,`).FindAll(table, -1)); got != want {
			t.Errorf("%s stands in the table %d times", n[1], got)
		}
	}
}

// TestClass: the table gives the class of an error that wraps one of its errors, and a class gives itself. What a
// collective ended with goes before the end of the collective.
func TestClass(t *testing.T) {
	for _, x := range classes {
		if got := Class(fmt.Errorf("mpi: Send: %w", x.err)); got != x.class {
			t.Errorf("%v: class %v, want %v", x.err, got, x.class)
		}
	}
	for _, err := range unclassed {
		if got := Class(fmt.Errorf("mpi: Send: %w", err)); got != errs.Other {
			t.Errorf("%v: class %v", err, got)
		}
	}
	for _, x := range []struct {
		err  error
		want errs.Class
	}{
		{nil, errs.Success},
		{io.EOF, errs.Unknown},
		{fmt.Errorf("of a window: %w", errs.RMASync), errs.RMASync},
		{&CollectiveError{Err: ErrRoot}, errs.Root},
		{&CollectiveError{Err: errs.Group}, errs.Group},
		{&CollectiveError{Err: io.EOF}, errs.Other},
	} {
		if got := Class(x.err); got != x.want {
			t.Errorf("%v: class %v, want %v", x.err, got, x.want)
		}
	}
}

// TestAddTo: an error that wraps a class matches the error of the table, too, and keeps its text; others stay the same.
func TestAddTo(t *testing.T) {
	for _, x := range classes {
		err := fmt.Errorf("mpi: Put: %w: rank 1", x.class)
		got := AddTo(err)
		if !errors.Is(got, x.err) || !errors.Is(got, x.class) || got.Error() != err.Error() {
			t.Errorf("%v becomes %v", err, got)
		}
	}
	for _, err := range []error{nil, io.EOF, errs.RMASync, fmt.Errorf("a: %w", ErrRank)} {
		if got := AddTo(err); got != err {
			t.Errorf("%v becomes %v", err, got)
		}
	}
}

// TestReasons: a rank that is told of an error by number and text knows its reason.
func TestReasons(t *testing.T) {
	for i, reason := range reasons[1:] {
		n := ReasonNumber(fmt.Errorf("mpi: Reduce: %w", reason))
		if first := slices.IndexFunc(reasons, func(r error) bool { return r != nil && errors.Is(reason, r) }); int(n) != first {
			t.Errorf("reason %d, %v, has number %d", i+1, reason, n)
		}
		if err := NewRemoteError("text", n); !errors.Is(err, reasons[n]) || err.Error() != "text" {
			t.Errorf("number %d is told as %v", n, err)
		}
	}
	if n := ReasonNumber(io.EOF); n != 0 {
		t.Errorf("another error has number %d", n)
	}
	if err := NewRemoteError("text", 1000); errors.Unwrap(err) != nil {
		t.Errorf("a number that is none is told as %v", err)
	}
}
