package mpi

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/internal/test/udptest"
)

// asRank, where it is not nil, runs the program of a rank if the environment asks for it.
var asRank func()

func TestMain(m *testing.M) {
	if asRank != nil {
		asRank()
	}
	goleak.VerifyTestMain(udptest.Patiently(m))
}
