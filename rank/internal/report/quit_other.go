//go:build !unix

package report

import "os"

// quitSignal is nil where there is no such signal.
var quitSignal os.Signal

func quitAgain() {}
