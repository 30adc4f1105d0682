package explore

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counter has two users that each load a number and store it plus one.
type counter struct {
	value int
	at    [2]int // 0: has not loaded, 1: is to store, 2: has stored
	own   [2]int
}

func (c *counter) Steps() (steps []string) {
	for u := range c.at {
		if c.at[u] < 2 {
			steps = append(steps, fmt.Sprintf("user %d step %d", u, c.at[u]))
		}
	}
	return steps
}

func (c *counter) Do(step int) {
	u := step
	if c.at[0] == 2 {
		u = 1
	}
	if c.at[u]++; c.at[u] == 1 {
		c.own[u] = c.value
	} else {
		c.value = c.own[u] + 1
	}
}

func (c *counter) Clone() World { d := *c; return &d }

func (c *counter) Key() string { return fmt.Sprint(*c) }

var errLost = errors.New("an addition is lost")

func (c *counter) Check(rest bool) error {
	if rest && c.value != 2 {
		return errLost
	}
	return nil
}

// TestAll finds the one fault of the counter, with the way to it, and stops at its bound.
func TestAll(t *testing.T) {
	_, err := All(&counter{}, 100)
	var e *Error
	if !errors.Is(err, errLost) || !errors.As(err, &e) || len(e.Steps) != 4 || !strings.Contains(err.Error(),
		"user 0 step 0; user 1 step 0") {
		t.Errorf("got %v", err)
	}
	if r, err := All(&counter{at: [2]int{2, 0}, value: 1}, 100); err != nil || r.States != 3 || r.Rests != 1 {
		t.Errorf("one user: %+v, %v", r, err)
	}
	if _, err := All(&counter{}, 3); err == nil || errors.Is(err, errLost) {
		t.Errorf("a bound of 3 states: %v", err)
	}
}
