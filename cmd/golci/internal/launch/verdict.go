package launch

// evidence is what the end of a rank says about the job's exit code. A greater one replaces all smaller ones.
type evidence uint8

const (
	effect evidence = iota // the rank may have ended because another one has
	own                    // it exited with a code, and knew of no other's end
	given                  // a code that the job is to have: an abort, an agreement, a signal, the loss of a machine
	final                  // the launcher's own
)

// verdict is the exit code of a job. The order in which the ends of its ranks are told makes no difference: among equal
// evidence the greatest code counts.
type verdict struct {
	by   evidence
	code int // 0: nothing has failed
}

// addCode takes a code other than 0.
func (v *verdict) addCode(by evidence, code int) {
	switch {
	case v.code == 0 || by > v.by:
		*v = verdict{by, code}
	case by == v.by:
		v.code = max(v.code, code)
	}
}
