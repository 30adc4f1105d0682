package creditsim

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func show(t *testing.T, c Config) Result {
	t.Helper()
	res, err := Run(c, func(r Row) error {
		if testing.Verbose() {
			t.Logf("%+v", r)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	res2 := res
	res2.Rows = nil
	t.Logf("%+v", res2)
	return res
}

func TestX(t *testing.T) {
	show(t, Config{Nodes: 64, Pattern: "static", Epochs: 120, Loan: 6})
	show(t, Config{Nodes: 1000, Pattern: "static", Epochs: 120, Loan: 6})
	show(t, Config{Nodes: 1000, Pattern: "chain", Epochs: 40, Stay: 4, Loan: 4})
	show(t, Config{Nodes: 1000, Pattern: "oddpoll", Epochs: 40, Stay: 4, Loan: 4})
	show(t, Config{Nodes: 1000, Pattern: "pairs", Epochs: 40, Stay: 4, Loan: 4})
}
