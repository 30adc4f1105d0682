//go:build !unix

package far

import (
	"io"

	"github.com/golci/golci/cmd/golci/internal/launch"
)

// New makes a team that cannot run a job here.
func New(*Config) launch.Team { return nil }

// HelperMain says that it cannot run ranks here.
func HelperMain(io.Reader, *launch.Guard) error { return launch.ErrPlatform }

// OwnDir says that nothing was copied here.
func OwnDir(string, string) error { return launch.ErrPlatform }
