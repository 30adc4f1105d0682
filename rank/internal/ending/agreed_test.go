package ending

import (
	"errors"
	"testing"
	"time"

	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/job/exit"
	"github.com/golci/golci/internal/test/settingstest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSettle: how long a rank waits for its own exit code reaches the state machine.
func TestSettle(t *testing.T) {
	for settle, want := range map[time.Duration]time.Duration{0: 50 * time.Millisecond, time.Hour: time.Hour} {
		c := Config{Job: &boot.Job{Size: 2, Mates: 2}, Values: settingstest.Parse(), Settle: settle}
		if got := c.machine().Settle; got != want {
			t.Errorf("with %v it is %v, want %v", settle, got, want)
		}
	}
}

// TestEnderOfALaterWorld: ranks of a world that does not begin at 0 count from its first one. What they send to each
// other about the end reaches no other world.
func TestEnderOfALaterWorld(t *testing.T) {
	const size, begin, self = 4, 2, 2
	jobs, err := boot.Local(size)
	if err != nil {
		t.Fatal(err)
	}
	type news struct{ to, from int }
	came := make(chan news, size)
	for i, j := range jobs {
		if i == self {
			continue
		}
		p, err := j.OpenPlane(func(from int, _ []byte) { came <- news{i, from} })
		if errors.Is(err, boot.ErrNoPlane) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
	}
	jobs[self].First, jobs[self].Mates = begin, size-begin
	e, err := New(Config{Job: jobs[self], Values: settingstest.Parse()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.sendAction(exit.Action{Kind: exit.Send, To: 1})
	e.sends.Wait()
	if got, want := <-came, (news{begin + 1, self}); got != want {
		t.Errorf("a message to rank 1 of the world came to rank %d of the job, from %d", got.to, got.from)
	}
}
