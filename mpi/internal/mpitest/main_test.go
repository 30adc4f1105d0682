package mpitest

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/internal/test/udptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(udptest.Patiently(m)) }
