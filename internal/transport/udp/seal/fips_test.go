package seal

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestFIPSOnly: a process that may use nothing but what FIPS 140-3 approves is told at the start that tags cannot be
// had, and by which mode it can do without.
func TestFIPSOnly(t *testing.T) {
	const only = "fips140=only"
	if os.Getenv("GODEBUG") != only {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFIPSOnly$", "-test.v")
		cmd.Env = append(os.Environ(), "GODEBUG="+only)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	if _, err := NewPrivate(); !errors.Is(err, errConfig) || !strings.Contains(err.Error(), "only mode trust") {
		t.Errorf("a private key: %v", err)
	}
	if _, err := New(Config{Key: make([]byte, 32), Size: 1, Mode: Trust}); err != nil {
		t.Errorf("trust: %v", err)
	}
}
