package mpi

import (
	"fmt"
	"io"
	"os"

	"github.com/golci/golci/mpi/internal/core"
)

// Command is a program that Spawn starts.
type Command struct {
	// Path is the program. Without a slash it is looked for in Dir, and then in the PATH of the launcher.
	Path string
	Args []string // arguments, without the program
	Env  []string // KEY=VALUE, beside the environment that all ranks have
	Dir  string   // working directory; "" is the caller's
	N    int      // how many processes; at least 1
}

// Spawn starts processes, and makes an inter-communicator of the ranks of c and of the new ones (11.8.2, 11.8.3,
// MPI_Comm_spawn, MPI_Comm_spawn_multiple). The new processes have a world of their own: those of the first command
// come first there. They get the inter-communicator from Proc.Parent. Only what root says of the commands counts.
// Either all processes are started or none.
//
// Collective over c; it waits until the new processes have called Init. Errors: ErrComm, ErrRoot, ErrArgument; ErrSpawn
// where a program cannot be started or the job has no room (golci run -universe); ErrContexts, and those of
// communication.
func (c *Comm) Spawn(root int, cmds ...Command) (*Comm, error) {
	list := make([]core.Command, len(cmds))
	for i, cmd := range cmds {
		list[i] = core.Command{Argv: append([]string{cmd.Path}, cmd.Args...), N: cmd.N, Dir: cmd.Dir, Env: cmd.Env}
		if cmd.Dir == "" {
			list[i].Dir, _ = os.Getwd() // "": the launcher's
		}
	}
	d, _, err := c.core().Spawn(root, list)
	return (*Comm)(d), err
}

// Parent is the inter-communicator with the processes that have spawned this one (11.8.1, MPI_Comm_get_parent). It is
// nil where the launcher has started the process, and after the communicator has been freed or disconnected. It is
// local.
func (p *Proc) Parent() *Comm { return (*Comm)(p.core().Parent()) }

// Disconnect waits until all ranks of c have called it, and then frees c (11.10.4, MPI_Comm_disconnect). Operations on
// c must have been waited for. It is meant for communicators with ranks of several worlds. Collective over c; it waits.
// Errors: ErrComm, also for the world and self communicators, and those of communication.
func (c *Comm) Disconnect() error { return c.core().Disconnect() }

// AppNum is the place of this process's program among those that have started together (11.10.3, MPI_APPNUM): those of
// golci run, or the commands of the call of Spawn. It is 0 under other launchers. It waits for the launcher.
func (p *Proc) AppNum() (int, error) {
	n, err := p.core().AppNum()
	if err != nil {
		err = fmt.Errorf("mpi: AppNum: %w", err)
	}
	return n, err
}

// Universe is the most ranks that the job can have, with those that are spawned (11.10.1, MPI_UNIVERSE_SIZE). It is
// local.
func (p *Proc) Universe() int { return p.core().Universe() }

// OpenPort opens a port at this rank and gives its name, by which ranks that have no communicator in common with this
// one can reach it (11.9.2, MPI_Open_port). It is local. Errors: ErrFinalized, ErrAborted.
func (p *Proc) OpenPort() (string, error) { return p.core().OpenPort() }

// ClosePort closes a port of this rank (11.9.2, MPI_Close_port). A call of Accept that waits there, or of Connect,
// gets ErrPort. It does not wait. ErrPort: the rank has no such port.
func (p *Proc) ClosePort(port string) error { return p.core().ClosePort(port) }

// Accept waits for ranks that call Connect with the name of a port, and makes an inter-communicator with them (11.9.2,
// MPI_Comm_accept). Only root's port counts; root has opened it. Collective over c; it waits. Errors: ErrComm, also
// where the groups overlap, ErrRoot, ErrPort, ErrContexts, and those of communication.
func (c *Comm) Accept(port string, root int) (*Comm, error) {
	d, err := c.core().Accept(port, root)
	return (*Comm)(d), err
}

// Connect makes an inter-communicator with ranks that call Accept for a port (11.9.3, MPI_Comm_connect). Only root's
// port counts. Collective over c; it waits until somebody accepts, for GOLCI_INIT_TIMEOUT at most. Errors: those of
// Accept; ErrPort if the port is not open, is closed meanwhile, or if nobody accepts in time.
func (c *Comm) Connect(port string, root int) (*Comm, error) {
	d, err := c.core().Connect(port, root)
	return (*Comm)(d), err
}

// PublishName makes a port known to all ranks of the job under the name of a service (11.9.4, MPI_Publish_name). It
// waits for the launcher. ErrService: the name is taken, or the launcher keeps no names.
func (p *Proc) PublishName(service, port string) error { return p.core().PublishName(service, port) }

// UnpublishName takes a service back (11.9.4, MPI_Unpublish_name). Any rank may. It waits for the launcher.
// ErrService: it is not published.
func (p *Proc) UnpublishName(service string) error { return p.core().UnpublishName(service) }

// LookupName gives the port of a service (11.9.4, MPI_Lookup_name). It waits for the launcher. ErrName: it is not
// published.
func (p *Proc) LookupName(service string) (port string, err error) {
	return p.core().LookupName(service)
}

// Join makes an inter-communicator of this rank alone and another one of the job, over a connection between the two
// (11.10.5, MPI_Comm_join). Both ranks call it with their ends. It is nil where the other process is not of this job.
// Some bytes travel over the connection; nothing is left in it. It waits until the other side has sent its own. Errors:
// ErrComm if both ends are this rank's, ErrContexts, those of the connection and of communication.
func (p *Proc) Join(conn io.ReadWriter) (*Comm, error) {
	if conn == nil {
		return nil, fmt.Errorf("mpi: Join: %w: nil connection", ErrArgument)
	}
	d, err := p.core().Meet(conn)
	return (*Comm)(d), err
}
