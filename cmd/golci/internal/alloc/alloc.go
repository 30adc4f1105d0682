// Package alloc finds the machines that a cluster's scheduler has given to this job, and the remote shell that reaches
// them there. It reads only what it is handed: an environment, files, and the name of this machine.
package alloc

import (
	"errors"
	"fmt"

	"github.com/golci/golci/cmd/golci/internal/launch/far"
)

// errAllocation is wrapped by all errors: the environment tells of machines, but not in a form that can be read.
var errAllocation = errors.New("allocation")

// Place is marked in a remote shell's words by this: the machine's name goes there.
const Place = far.HostMark

// View is what this package may see of the process and its machine.
type View struct {
	Env  func(name string) (string, bool) // as os.LookupEnv
	Read func(path string) ([]byte, error)
	Host string // the name of this machine, as os.Hostname tells it
}

// Allocation is what the scheduler has given.
type Allocation struct {
	Scheduler string     // for people: "Slurm", "PBS", "LSF", "SGE", "a host file"
	From      string     // the variable that tells the machines
	Hosts     []far.Host // at least one; the one that is this machine is marked as here
	Shell     []string   // the remote shell, with Place
	Why       string     // why Hosts are fewer than the scheduler has given; "" where they are not
}

// Alone says that the only machine is this one, so that no remote shell is needed.
func (a *Allocation) Alone() bool { return len(a.Hosts) == 1 && a.Hosts[0].Here }

// Slots is how many ranks the machines take; 0: as many as there are cores, which is not known here.
func (a *Allocation) Slots() (sum int) {
	for _, h := range a.Hosts {
		if h.Slots == 0 {
			return 0
		}
		sum += h.Slots
	}
	return sum
}

// finders are asked in turn. A scheduler comes before the variables that name a file for a launcher: these may be in a
// user's profile for other uses.
var finders = []func(v *view) (*Allocation, error){slurm, pbs, lsf, sge, hostFile}

// Find returns the allocation that v tells of; nil if it tells of none. The error wraps errAllocation and names the
// variable that is wrong.
func Find(v View) (*Allocation, error) {
	for _, find := range finders {
		a, err := find(&view{v})
		if err != nil || a == nil {
			if err != nil {
				return nil, fmt.Errorf("%w: %w", errAllocation, err)
			}
			continue
		}
		if a.Hosts, err = far.Merge(a.Hosts); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", errAllocation, a.From, err)
		}
		return a, nil
	}
	return nil, nil
}

// view reads the environment for the finders.
type view struct{ View }

// str is the value of a variable; "" where it is not set.
func (v *view) str(name string) string {
	text, _ := v.Env(name)
	return text
}

// firstSet returns the first of the variables that is set and not empty.
func (v *view) firstSet(names ...string) (name, value string) {
	for _, name := range names {
		if value := v.str(name); value != "" {
			return name, value
		}
	}
	return "", ""
}

// readFileOf reads the file that variable name names.
func (v *view) readFileOf(name string) ([]byte, error) {
	text, err := v.Read(v.str(name))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}

// wrongValue is the error of a variable that cannot be read. A long value is cut.
func wrongValue(name, value, want string) error {
	const most = 80
	if len(value) > most {
		value = value[:most] + "..."
	}
	return fmt.Errorf("%s=%q: want %s", name, value, want)
}
