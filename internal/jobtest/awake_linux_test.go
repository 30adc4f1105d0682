package jobtest

import "time"

// awake measures time as this process has seen it: when all processes of the machine are stopped for a while, the
// while counts as a moment only.
type awake struct {
	stop  chan struct{}
	total chan time.Duration
}

const (
	awakeTick = 10 * time.Millisecond
	awakeGap  = 200 * time.Millisecond // the most that one tick counts
)

func startAwake() *awake {
	a := &awake{stop: make(chan struct{}), total: make(chan time.Duration)}
	go func() {
		tick := time.NewTicker(awakeTick)
		defer tick.Stop()
		last, sum := time.Now(), time.Duration(0)
		for {
			select {
			case <-tick.C:
				now := time.Now()
				sum += min(now.Sub(last), awakeGap)
				last = now
			case <-a.stop:
				a.total <- sum + min(time.Since(last), awakeGap)
				return
			}
		}
	}()
	return a
}

// end returns the time since the start. It is called once.
func (a *awake) end() time.Duration {
	close(a.stop)
	return <-a.total
}
