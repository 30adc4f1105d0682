package conformance

import "flag"

var seedFlag = flag.Uint64("conduit.seed", 0, "replay the random conformance tests from this seed")
