package main

import "github.com/golci/golci/cmd/golci/internal/relay"

func init() {
	commands = append(commands, &struct {
		Relay relay.Command `cmd:"" hidden:"" help:"Pass UDP packets on and impair the link on purpose, until interrupted."`
	}{})
}
