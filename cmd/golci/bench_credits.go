package main

import "github.com/golci/golci/bench/credits"

// creditFlags are those of golci bench credits.
type creditFlags struct {
	View    string `default:"time" help:"Of credits: time, loans or sim. Pattern, epochs, stay and pause are of sim."`
	Pattern string `default:"static" help:"Traffic: static, ring, chain, oddpoll, pairs, tree, hotspot, random or none."`
	Epochs  int    `default:"120" help:"Epochs, one row each."`
	Stay    int    `default:"4" help:"Epochs with a partner, if partners rotate."`
	Loan    int    `help:"Credits lent to each peer at first; default: 6, for sim the table." placeholder:"N"`
	Bank    int    `help:"Credits not lent at first; default: 800, for sim the table; -bank=-1: none." placeholder:"N"`
	Pause   int    `default:"10" help:"Longest pause of polls in us, about once in 100 us; -pause=-1: none."`
}

// config is what package credits is to measure with ranks ranks, 0 for its default.
func (f *creditFlags) config(ranks int, seed uint64) credits.Config {
	return credits.Config{
		View: f.View, Ranks: ranks, Pattern: f.Pattern, Epochs: f.Epochs, Stay: f.Stay, Loan: f.Loan, Bank: f.Bank,
		Pause: f.Pause, Seed: seed,
	}
}
