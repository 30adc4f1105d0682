package main

import (
	"time"

	"github.com/golci/golci/bench/reliable"
	"github.com/golci/golci/bench/suite"
)

// linkFlags are those of golci bench reliable; zeros stand for the defaults of package bench/reliable.
type linkFlags struct {
	RTT     time.Duration `name:"rtt" help:"Round trip of the empty path; default: 1ms." placeholder:"D"`
	Rate    string        `help:"Bits per second; k, M and G are powers of 1000; default: 1G." placeholder:"RATE"`
	Queue   time.Duration `help:"Buffer before the link, as time on the link; default: 1ms." placeholder:"D"`
	MTU     int           `name:"mtu" help:"Longest packet in bytes; default: 1400." placeholder:"N"`
	Loss    string        `help:"Chances of a packet to be lost; default: 0,0.1%,1%,2%,5%,10%; 0 with -senders." placeholder:"LIST"`
	Reorder float64       `help:"Chance of a packet to be up to a round trip late." placeholder:"P"`
	Dup     float64       `help:"Chance of a packet to come twice." placeholder:"P"`
	Load    float64       `help:"Load for the times of messages, as part of the rate; default: 0.2." placeholder:"P"`
	Senders int           `help:"Flows through one bottleneck, 1 to 1000, to measure how evenly they share it." placeholder:"N"`
	Stagger time.Duration `help:"Time between the starts of the flows, if they start one by one; default: 200ms." placeholder:"D"`
	Spread  float64       `help:"Ratio of the greatest round trip to the least, if they differ; default: 4." placeholder:"X"`
	Real    bool          `help:"No simulation: two ranks over the UDP conduit, which drops packets itself (loss, reorder, dup, seed and security apply)."`
}

func (l *linkFlags) parseLink(seed uint64) (losses []float64, c reliable.Config, err error) {
	if losses, err = suite.ParseChances(l.Loss); err != nil {
		return nil, c, err
	}
	rate, err := suite.ParseRate(l.Rate)
	return losses, reliable.Config{
		RTT: l.RTT, Rate: rate, Queue: l.Queue, MTU: l.MTU, Reorder: l.Reorder, Dup: l.Dup, Seed: seed, Load: l.Load,
		Senders: l.Senders, Stagger: l.Stagger, Spread: l.Spread,
	}, err
}
