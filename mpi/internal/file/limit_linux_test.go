package file

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/mpi/internal/core"
)

// TestSizeLimit: a size above the limit on file sizes is an error that names the limit.
func TestSizeLimit(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	low := old
	low.Cur = 1 << 20
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &low); err != nil {
		t.Skipf("the limit cannot be set here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Setrlimit(unix.RLIMIT_FSIZE, &old) }) // it was the limit before
	ranks(t, 1, func(c *core.Comm) error {
		f, err := Open(c, name, Create|WRONLY, nil)
		if err != nil {
			return err
		}
		if err := f.SetSize(2 << 20); err == nil || !strings.Contains(err.Error(), "ulimit -f") {
			t.Errorf("a size above the limit: %v", err)
		}
		return f.Close()
	})
}
