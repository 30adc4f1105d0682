package job

import (
	"os/exec"
)

func setGroup(cmd *exec.Cmd) { group(cmd) }

func alive(path string) []int { return running(path) }
