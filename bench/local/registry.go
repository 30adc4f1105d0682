package local

import (
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/poolbench"
	"github.com/golci/golci/bench/tablebench"
	"github.com/golci/golci/fult"
)

var benchmarks = map[string]benchmark{
	"switch": {impls: []string{bench.Golci, "goroutine", "osthread", "channel", "sync.Cond"}, measure: switchNs},
	"table":  {impls: tablebench.Impls(), measure: tablebench.Run},
	"pool":   {impls: poolbench.Impls(), measure: poolbench.Run},
}

var handOvers = map[string]handOver{
	bench.Golci: threads(fult.Fult),
	"goroutine": threads(fult.Goroutines),
	"osthread":  threads(fult.OSThreads),
	"channel":   rivals(newChannels),
	"sync.Cond": rivals(newConds),
}

func threads(kind fult.Kind) handOver {
	return func(pairs, rounds int) (time.Duration, error) { return threadPairs(kind, pairs, rounds) }
}

func rivals(create func() pingPong) handOver {
	return func(pairs, rounds int) (time.Duration, error) { return goPairs(pairs, rounds, create) }
}
