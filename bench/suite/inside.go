package suite

import (
	"context"
	"errors"
	"fmt"

	"github.com/golci/golci/comm/boot"
)

// insideJob tells whether a launcher started this process.
func insideJob(env func(string) (string, bool)) (bool, error) {
	launcher, _, _, err := boot.Detect(env)
	if err != nil {
		return false, fmt.Errorf("bench: %w", err)
	}
	return launcher != boot.LauncherSingle, nil
}

// takePart refuses: there are no messages between ranks without package mpi.
func takePart(context.Context, Config, []spec) error {
	return errors.New("bench: no message layer in this build")
}
