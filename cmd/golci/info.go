package main

// infoCmd is golci info.
type infoCmd struct{}

// Run prints what is known.
func (infoCmd) Run() error { return nil }
