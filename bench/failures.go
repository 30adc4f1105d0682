package bench

import "time"

// Failures takes the first error of many threads, with which the job ends. It is made with room for one.
type Failures chan error

// Note keeps err if it is the first one, and never waits.
func (f Failures) Note(err error) {
	if err == nil {
		return
	}
	select {
	case f <- err:
	default:
	}
}

// Pause sleeps, unless a thread fails meanwhile.
func (f Failures) Pause(d time.Duration) error {
	select {
	case err := <-f:
		return err
	case <-time.After(d):
		return nil
	}
}
