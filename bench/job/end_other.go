//go:build !unix

package job

import "os/exec"

func group(*exec.Cmd) {}

// terminate kills the launcher: there is no signal that asks.
func terminate(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func reap(*exec.Cmd, string) {}
