// Package far is the team of a job on several machines. The head starts a helper on each through a remote shell; the
// helper starts the ranks there, and passes on what they say and write.
package far

import "time"

// Config says which machines a job has, and how they are reached.
type Config struct {
	Hosts   []Host        // at least one
	Shell   []string      // remote shell; HostMark in it stands for the machine, which else follows it; a command follows
	Self    string        // this program, as a path
	Helper  string        // this program on the other machines, as a path; "": as here, or a copy
	Listen  string        // address, as for net.Listen, at which the machines call back
	Preload bool          // copy the programs to the machines
	Copies  []string      // programs, as paths here, that are copied in any case
	Silence time.Duration // after which a machine that says nothing counts as lost
	Start   time.Duration // for all machines to answer
	Connect time.Duration // for which a machine is tried again that cannot be reached yet
}
