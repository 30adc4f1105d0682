package progress

import "time"

// spinner is the spinning of one wait: polls in vain, for Config.Spin since the last that found something.
type spinner struct {
	spin  time.Duration
	every uint32 // polls between looks at the clock, less one
	polls uint32
	spent bool      // the time is over, until a poll finds something
	share func()    // lets others run; not nil
	start time.Time // of the polls in vain, once the clock has been looked at
}

func newSpinner(e *Engine) spinner {
	s := spinner{spin: e.spin, share: e.share}
	if s.spin > 0 && !e.crowded {
		s.every = clockEvery - 1
	}
	return s
}

// isOver takes in what a poll has found, and reports whether the spinning time is over.
func (s *spinner) isOver(got int) bool {
	if s.polls++; got <= 0 && s.polls&s.every != 0 {
		return s.spent
	}
	return s.overSlow(got)
}

// overSlow looks at the clock, and lets other goroutines run.
func (s *spinner) overSlow(got int) bool {
	if got > 0 {
		s.polls, s.spent, s.start = 0, false, time.Time{}
		return false
	}
	if s.spent {
		return true
	}
	s.share()
	now := time.Now()
	if s.start.IsZero() {
		s.start = now
	}
	s.spent = s.spin == 0 || now.Sub(s.start) > s.spin
	return s.spent
}
