package reqkind

import (
	"fmt"

	"github.com/golci/golci/mpi/internal/errs"
)

// firstState is the state of a new request.
func (k Kind) firstState() State {
	if k.isPersistent() {
		return Inactive
	}
	return Active
}

// Next is the state after a call. errs.Request: the call is not allowed for requests of this kind in this state.
// errs.Intern: there is no such kind, state or call.
func Next(k Kind, s State, c Call) (State, error) {
	if k >= kinds || s >= states || c >= calls {
		return s, fmt.Errorf("%w: call %d of kind %d in state %d of a request", errs.Intern, int(c), int(k), int(s))
	}
	if !rows[k].may[c].hasState(s) {
		return s, fmt.Errorf("%w: %v of a request that is %v and %v", errs.Request, c, k, s)
	}
	switch c {
	case Start:
		return Active, nil
	case Complete:
		return k.completed(s), nil
	case Free:
		if s == Active {
			return Detached, nil
		}
		return Null, nil
	case EndGen, Ended:
		if s == Detached {
			return Null, nil
		}
		return Done, nil
	}
	return s, nil
}

// completed is the state after a completing call. Inactive and null requests stay what they are.
func (k Kind) completed(s State) State {
	switch {
	case s != Done:
		return s
	case k.isPersistent():
		return Inactive
	}
	return Null
}

// Outcome is what a call that completes several requests has found of one.
type Outcome struct {
	Done bool  // it is done, inactive or null
	Err  error // of its operation, if that has failed
}

// severalKinds is the error of such a call (3.7.5), and the errors for the statuses: of all requests for MPI_Waitall
// and MPI_Testall with the flag set, of those that are done for MPI_Waitsome and MPI_Testsome. Where an operation has
// failed, the error is errs.InStatus, and each status has its own: nil for what succeeded, errs.Pending for what is not
// done. Otherwise there is no error, and statuses is nil: the error fields of statuses do not change.
func severalKinds(outcomes []Outcome) (statuses []error, err error) {
	failed, first := 0, -1
	for i, o := range outcomes {
		if o.Err != nil {
			if failed++; first < 0 {
				first = i
			}
		}
	}
	if failed == 0 {
		return nil, nil
	}
	for _, o := range outcomes {
		if o.Err == nil && !o.Done {
			o.Err = errs.Pending
		}
		statuses = append(statuses, o.Err)
	}
	return statuses, fmt.Errorf("%w: %d of %d requests have failed, the first one is %d: %v",
		errs.InStatus, failed, len(outcomes), first, outcomes[first].Err)
}
