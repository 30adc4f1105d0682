package agree

import (
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/internal/test/explore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestExplore follows small communicators through every order of calls, messages, deaths, losses and news.
func TestExplore(t *testing.T) {
	small := []plan{
		{ranks: 1, calls: 3},
		{ranks: 2, calls: 3},
		{ranks: 2, calls: 2, dies: []int{0, 1}, deaths: 1},
		{ranks: 3, calls: 1},
		{ranks: 3, calls: 1, dies: []int{0, 1, 2}, deaths: 2},
		{ranks: 3, calls: 2, dies: []int{0}, deaths: 1},
	}
	large := []plan{
		{ranks: 3, calls: 3, dies: []int{0, 1, 2}, deaths: 1},
		{ranks: 3, calls: 2, dies: []int{0, 1, 2}, deaths: 2},
		{ranks: 4, calls: 1, dies: []int{0, 1, 2, 3}, deaths: 2},
		{ranks: 4, calls: 1, dies: []int{0, 1, 2}, deaths: 3},
		{ranks: 4, calls: 2, dies: []int{0}, deaths: 1},
	}
	if !testing.Short() {
		small = append(small, large...)
	}
	for _, p := range small {
		t.Run(fmt.Sprintf("%+v", p), func(t *testing.T) {
			r, err := explore.All(newWorld(p), 3_000_000)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states, %d rests", r.States, r.Rests)
		})
	}
}
