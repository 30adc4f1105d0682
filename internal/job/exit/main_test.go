package exit

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// asRank is set where the test binary can also be a rank.
var asRank func() (code int, is bool)

func TestMain(m *testing.M) {
	if asRank != nil {
		if code, is := asRank(); is {
			os.Exit(code)
		}
	}
	goleak.VerifyTestMain(m)
}
