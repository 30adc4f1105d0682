package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// ownPath is the path of this program. Where the system does not tell it, as Linux without /proc, the program is
// looked for under the name by which it was called.
func ownPath() (string, error) {
	path, err := os.Executable()
	if err == nil {
		return path, nil
	}
	path, notFound := exec.LookPath(os.Args[0])
	if notFound != nil {
		return "", fmt.Errorf("the path of this program: %w", errors.Join(err, notFound))
	}
	return filepath.Abs(path)
}
