//go:build !unix

package far

import (
	"io"
	"os"

	"github.com/golci/golci/cmd/golci/internal/launch"
)

// New makes a team that cannot run a job here.
func New(*Config) launch.Team { return nil }

// HelperMain says that it cannot run ranks here.
func HelperMain(io.Reader, *os.File, *launch.Guard) error { return launch.ErrPlatform }

// Input has nothing.
func Input() *os.File { return nil }

// OwnDir says that nothing was copied here.
func OwnDir(string, string) error { return launch.ErrPlatform }
