package main

import (
	"time"

	"github.com/golci/golci/bench/scale"
	"github.com/golci/golci/bench/scale/vtime"
	"github.com/golci/golci/bench/suite"
)

// scaleFlags are those of the benchmark scale.
type scaleFlags struct {
	Ranks    string        `help:"Ranks of the simulated jobs, each 2 to 100000." default:"64,1024,10000,100000" placeholder:"LIST"`
	PerNode  int           `help:"Ranks on a node." default:"16"`
	Latency  time.Duration `help:"From when a message has left until it can be taken in." default:"20us"`
	Overhead time.Duration `help:"Of a message at either end." default:"2us"`
	Rate     string        `help:"Bits per second that an end can send, and take in; k, M and G multiply by powers of 1000." default:"10G"`
}

func (f *scaleFlags) parseScale(seed uint64) (scale.Config, error) {
	c := scale.Config{PerNode: f.PerNode, Link: vtime.Link{Latency: f.Latency, Overhead: f.Overhead}, Seed: seed}
	var err error
	if c.Ranks, err = suite.ParseList(f.Ranks); err != nil {
		return c, err
	}
	c.Link.Rate, err = suite.ParseRate(f.Rate)
	return c, err
}
