// Package gasnettest has only tests: of the active-message layer, its locks, barrier and remote memory together, over
// every conduit that lives in one process. They do what the programs of GASNet's own test suite do, whose names they
// have (testcore2, testhsl and so on), and were written afresh. What they share with the tests of am and its rooms
// stands there.
//
// A job is some ranks, each with a goroutine that runs the same function. What is random follows from a seed that is
// printed; run again with
//
//	go test ./internal/test/gasnettest -run NAME -seed NUMBER
package gasnettest
