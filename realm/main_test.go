package realm

import (
	"testing"

	"github.com/golci/golci/internal/test/udptest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(udptest.Patiently(m)) }
