package mpi

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/platform/invariants"
)

// rule is one rule of a section of the standard, checked by a job of so many ranks. Each rank calls check with a
// communicator of all ranks. check keeps nothing, and its ranks share no memory: they may be processes.
type rule struct {
	section, name string
	ranks         int
	check         func(c *Comm) error
}

// standard is what this package has of the standard, by chapters. Rules of files are in the tests of package
// mpi/file, which this one cannot import.
func standard() []rule {
	return slices.Concat(
		sendModeRules(), receiveRules(), orderRules(), completionRules(), probeRules(), cancelRules(), persistentRules(),
		sendrecvRules(), statusRules(), bufferRules(),
		partitionedRules(),
		typeRules(), packRules(), stridedRules(),
		collectiveRules(), operationRules(), placeRules(), vectorRules(), collectiveErrorRules(), interCollectiveRules(),
		interFormRules(),
		lastingRules(), alltoallwRules(),
		groupRules(), setRules(), makingRules(), splitRules(), interRules(), attributeRules(),
		topologyRules(), gridRules(), neighborRules(), neighborErrorRules(),
		environmentRules(), promiseRules(), grequestRules(),
		windowRules(), windowMoreRules(),
		faultRules(),
	)
}

// wantRules is how many different rules there are at least.
const wantRules = 1000

// chapterOf is the chapter of a section.
func chapterOf(section string) string {
	chapter, _, _ := strings.Cut(section, ".")
	return chapter
}

// TestStandardIsCovered: there are enough different rules, each with a section, for all numbers of ranks up to eight.
func TestStandardIsCovered(t *testing.T) {
	seen, chapters, ranks := make(map[string]bool), make(map[string]int), make(map[int]int)
	for _, r := range standard() {
		name := r.section + " " + r.name
		if seen[name] {
			t.Errorf("%q comes twice", name)
		}
		if r.section == "" || r.name == "" || r.check == nil || r.ranks < 1 || r.ranks > 8 {
			t.Errorf("%q is no rule", name)
		}
		seen[name] = true
		chapters[chapterOf(r.section)]++
		ranks[r.ranks]++
	}
	for _, chapter := range slices.Sorted(maps.Keys(chapters)) {
		t.Logf("chapter %-4s %4d rules", chapter, chapters[chapter])
	}
	t.Logf("%d rules; by number of ranks: %v", len(seen), ranks)
	if len(seen) < wantRules || len(ranks) != 8 {
		t.Errorf("%d rules for %d numbers of ranks", len(seen), len(ranks))
	}
}

// TestStandard checks each rule in a job of its own, whose ranks share memory.
func TestStandard(t *testing.T) {
	for _, r := range standard() {
		t.Run(fmt.Sprintf("%s/%s/%d", r.section, r.name, r.ranks), func(t *testing.T) {
			must(t, r.ranks, r.check, With(settings.Conduit.Env(), "local"))
		})
	}
}

// TestStandardOverDatagrams checks all rules of a number of ranks in one job, over the conduit with one receive pool.
func TestStandardOverDatagrams(t *testing.T) {
	for n := 1; n <= 8; n++ {
		if invariants.Race && testing.Short() && n != 2 && n != 5 {
			continue // many ranks take minutes there
		}
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			must(t, n, checkAll, With(settings.Conduit.Env(), "udp"))
		})
	}
}

// checkAll checks the rules for as many ranks as c has, one after the other, each with a communicator of its own.
func checkAll(c *Comm) error {
	for _, r := range standard() {
		if r.ranks != c.Size() {
			continue
		}
		d, err := c.Dup()
		if err != nil {
			return err
		}
		if err := errors.Join(r.check(d), c.Barrier()); err != nil {
			return fmt.Errorf("%s %s: %w", r.section, r.name, err)
		}
		if err := d.Free(); err != nil && !errors.Is(err, ErrComm) { // the rule may have freed it
			return fmt.Errorf("%s %s: Free: %w", r.section, r.name, err)
		}
	}
	return nil
}
