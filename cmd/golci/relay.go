package main

import "github.com/golci/golci/cmd/golci/internal/relay"

func init() {
	commands = append(commands, &struct {
		Relay relay.Command `cmd:"" hidden:"" help:"Pass UDP packets on and make the link worse on purpose, until interrupted."`
	}{})
}
