package launch

import (
	"os/exec"
	"runtime"
	"syscall"
	"testing"
)

// TestOwnEnd: a process that has ended before a signal is sent ended by itself, though nobody had waited for it yet.
func TestOwnEnd(t *testing.T) {
	runtime.LockOSThread() // which the processes outlive else
	defer runtime.UnlockOSThread()
	for _, x := range []struct {
		script string
		ends   bool // before the signal
		want   Status
	}{
		{"kill -TERM $$", true, Status{Signal: syscall.SIGTERM, Own: true}},
		{"exit 3", true, Status{Code: 3, Own: true}},
		{"exec sleep 1000", false, Status{Signal: syscall.SIGTERM}},
	} {
		p, err := StartProcess(exec.Command("sh", "-c", x.script), nil)
		if err != nil {
			t.Fatal(err)
		}
		for x.ends && !hasEnded(p.PID()) {
			runtime.Gosched()
		}
		p.Kill(syscall.SIGTERM)
		p.Kill(syscall.SIGTERM)
		if got := p.Wait(); got != x.want {
			t.Errorf("%q: %+v, want %+v", x.script, got, x.want)
		}
	}
}
