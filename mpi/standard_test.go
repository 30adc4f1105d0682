package mpi

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/test/explore"
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

// chapterOf is the chapter of a section.
func chapterOf(section string) string {
	chapter, _, _ := strings.Cut(section, ".")
	return chapter
}

// testedChapters are those of the standard that have rules here. Chapter 10, info objects, has them in
// mpi/internal/info, and chapter 14, files, in mpi/file. Chapters 1, 2 and 15 on are no text for this package.
var testedChapters = []string{"3", "4", "5", "6", "7", "8", "9", "11", "12", "13", "ULFM"}

// TestStandardIsCovered: each chapter has rules, no two rules have one name, and each can be checked.
func TestStandardIsCovered(t *testing.T) {
	seen, chapters := make(map[string]bool), make(map[string]int)
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
	}
	for _, chapter := range testedChapters {
		if chapters[chapter] == 0 {
			t.Errorf("chapter %s has no rule", chapter)
		}
		delete(chapters, chapter)
	}
	if len(chapters) > 0 {
		t.Errorf("chapters without a place in testedChapters: %v", chapters)
	}
}

// TestStandard checks each rule in a job of its own, whose ranks share memory. The rules are about results, and few
// need threads of their own. So a run under the race detector takes one in four, by chance.
func TestStandard(t *testing.T) {
	sample := explore.NewSample(1)
	if invariants.Race {
		sample = explore.NewSample(4)
		t.Log(sample)
	}
	for i, r := range standard() {
		if !sample.Has(i) {
			continue
		}
		t.Run(fmt.Sprintf("%s/%s/%d", r.section, r.name, r.ranks), func(t *testing.T) {
			must(t, r.ranks, r.check, With(settings.Conduit.Env(), "local"))
		})
	}
}

// TestStandardOverDatagrams checks all rules of a number of ranks in one job, over the conduit with one receive pool.
func TestStandardOverDatagrams(t *testing.T) {
	for n := 1; n <= 8; n++ {
		if invariants.Race && testing.Short() && n != 2 {
			continue // many ranks take minutes there, and TestStandard has all rules
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
