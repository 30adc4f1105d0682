package errs

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestClasses: each class has a name and a text of its own, and there are as many as the ABI has.
func TestClasses(t *testing.T) {
	if len(classes) != 63 {
		t.Fatalf("there are %d classes, want 63", len(classes))
	}
	seen := make(map[string]Class)
	for c := Success; int(c) < len(classes); c++ {
		for _, s := range []string{c.Name(), c.Error()} {
			if other, twice := seen[s]; twice || s == "" || s == "MPI_ERR_" {
				t.Errorf("class %d has the text %q, as class %d has", int(c), s, int(other))
			}
			seen[s] = c
		}
	}
}

// TestNumbers has some of the ABI's numbers, from both sides of each group of the list.
func TestNumbers(t *testing.T) {
	for c, want := range map[Class]string{
		0: "MPI_SUCCESS", 1: "MPI_ERR_BUFFER", 9: "MPI_ERR_GROUP", 13: "MPI_ERR_ARG", 17: "MPI_ERR_INTERN",
		18: "MPI_ERR_PENDING", 20: "MPI_ERR_ACCESS", 30: "MPI_ERR_FILE", 34: "MPI_ERR_INFO", 39: "MPI_ERR_NO_MEM",
		46: "MPI_ERR_RMA_ATTACH", 50: "MPI_ERR_RMA_SYNC", 55: "MPI_ERR_UNSUPPORTED_OPERATION", 56: "MPI_ERR_WIN",
		57: "MPI_ERR_RMA_FLAVOR", 59: "MPI_ERR_VALUE_TOO_LARGE", 61: "MPI_ERR_ERRHANDLER", 62: "MPI_ERR_ABI",
		-1: "", 63: "", LastCode: "",
	} {
		if got := c.Name(); got != want {
			t.Errorf("class %d is %q, want %q", int(c), got, want)
		}
	}
}

func TestOf(t *testing.T) {
	wrapped := fmt.Errorf("%w: %d elements", Count, -1)
	for _, c := range []struct {
		err  error
		want Class
	}{
		{nil, Success},
		{Rank, Rank},
		{wrapped, Count},
		{errors.Join(io.EOF, wrapped), Count},
		{io.EOF, Unknown},
		{fmt.Errorf("%w", Class(20000)), 20000},
	} {
		if got := Of(c.err); got != c.want {
			t.Errorf("the class of %v is %d, want %d", c.err, int(got), int(c.want))
		}
	}
	if !errors.Is(wrapped, Count) || errors.Is(wrapped, Rank) {
		t.Error("errors.Is does not find the class that is wrapped, or another one")
	}
	if got, want := Class(20000).Error(), "error class 20000"; got != want {
		t.Errorf("an added class says %q, want %q", got, want)
	}
}
