package udptest

import (
	"time"

	"go.uber.org/goleak"
)

// Patiently is m for goleak.VerifyTestMain where conduits are closed over a bad network: a keeper whose peer has left
// may wait for the answer to its good-bye in vain, for twice udp.Config.Linger.
func Patiently(m goleak.TestingM) goleak.TestingM { return patient{m} }

type patient struct{ goleak.TestingM }

func (p patient) Run() int {
	code := p.TestingM.Run()
	const lingering = 6 * time.Second
	for end := time.Now().Add(lingering); goleak.Find() != nil && time.Now().Before(end); { // Find takes its time
		continue
	}
	return code
}
