package main

import "github.com/golci/golci/internal/conduit/udp/relay"

func init() {
	commands = append(commands, &struct {
		Relay relay.Command `cmd:"" hidden:"" help:"Pass UDP packets on and make the link worse on purpose, until interrupted."`
	}{})
}
