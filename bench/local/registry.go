package local

import (
	"time"

	"github.com/golci/golci/hashtable/tablebench"
)

var benchmarks = map[string]benchmark{
	"switch": {impls: []string{"channel", "sync.Cond"}, measure: switchNs},
	"table":  {impls: tablebench.Impls(), measure: tablebench.Run},
}

var handOvers = map[string]handOver{
	"channel":   func(pairs, rounds int) (d time.Duration, err error) { return goPairs(pairs, rounds, newChannels) },
	"sync.Cond": func(pairs, rounds int) (d time.Duration, err error) { return goPairs(pairs, rounds, newConds) },
}
