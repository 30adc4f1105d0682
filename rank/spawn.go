package rank

import "github.com/golci/golci/internal/job/boot"

// What a layer above needs to have the launcher start processes; see Job.Spawn and Job.Publish.
type (
	// Command is a program of which processes are to be started.
	Command = boot.Command
	// SpawnRequest has the commands of a new world, and what its ranks are told.
	SpawnRequest = boot.SpawnRequest
)

// Errors of the launcher's services, for errors.Is.
var (
	ErrSpawn   = boot.ErrSpawn   // processes cannot be started
	ErrName    = boot.ErrName    // there is no such service
	ErrService = boot.ErrService // the service is not published, or cannot be
)
