package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/golci/golci/fult"
)

// stackGroup is goroutines that are in the same place.
type stackGroup struct {
	n    int
	text string // of the first
}

// writeStacks writes the stacks of the goroutines that run code of the program, and of its threads. Those in the same
// place are written once, with their number; those of Go and of this module, which only wait for work, are left out.
func writeStacks(b *bytes.Buffer, stacks *fult.Stacks) {
	groups := make(map[string]*stackGroup)
	var order []*stackGroup
	for one := range stacks.All() {
		if userFrame(one) == "" {
			continue
		}
		k := place(one)
		g := groups[k]
		if g == nil {
			g = &stackGroup{text: strings.TrimSpace(one)}
			groups[k] = g
			order = append(order, g)
		}
		g.n++
	}
	slices.SortStableFunc(order, func(a, b *stackGroup) int { return b.n - a.n })
	for _, g := range order {
		if g.n > 1 {
			fmt.Fprintf(b, "%d goroutines, the first is ", g.n)
		}
		fmt.Fprintf(b, "%s\n\n", g.text)
	}
}

// place is a stack without what differs from goroutine to goroutine: numbers, times and arguments.
func place(stack string) string {
	head, frames, _ := strings.Cut(stack, "\n")
	_, state, _ := strings.Cut(head, "[")
	state, _, _ = strings.Cut(state, ",")
	key := strings.TrimSuffix(state, "]:")
	for line := range strings.Lines(frames) {
		if strings.HasPrefix(line, "\t") {
			line, _, _ = strings.Cut(line, " +0x")
		} else {
			line, _, _ = cutLast(line, "(")
			line, _, _ = strings.Cut(line, " in goroutine ")
		}
		key += "\n" + line
	}
	return key
}

// userFrame is the innermost function of a stack that is neither Go's nor this module's own, and its line, or "".
func userFrame(stack string) string {
	_, frames, _ := strings.Cut(strings.TrimSpace(stack), "\n")
	for frames != "" {
		var name, at string
		name, frames, _ = strings.Cut(frames, "\n")
		at, frames, _ = strings.Cut(frames, "\n")
		if strings.HasPrefix(name, "created by ") || ownFrame(name, at) {
			continue
		}
		name, _, _ = cutLast(name, "(")
		at, _, _ = strings.Cut(strings.TrimSpace(at), " +0x")
		return name + " at " + at
	}
	return ""
}

// cutLast is strings.Cut at the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// ownPackages are those whose frames say nothing about the user's program. A path that ends in a point is one package.
var ownPackages = []string{
	"runtime.", "runtime/", "sync.", "sync/", "internal/", "syscall.", "time.", "iter.", "os.", "os/signal.", "net.", "bufio.", "io.",
	"context.", "golang.org/x/sys/",
	"github.com/golci/golci/am.", "github.com/golci/golci/am/", "github.com/golci/golci/comm.",
	"github.com/golci/golci/comm/", "github.com/golci/golci/conduit.", "github.com/golci/golci/fult.",
	"github.com/golci/golci/internal/", "github.com/golci/golci/mpi.", "github.com/golci/golci/mpi/",
	"github.com/golci/golci/rank.", "github.com/golci/golci/rank/",
	"github.com/golci/golci/realm.", "github.com/golci/golci/realm/",
}

// ownFrame says whether a frame, of a function name at a line, belongs to Go or to this module, tests apart.
func ownFrame(name, at string) bool {
	if strings.Contains(at, "_test.go:") {
		return false
	}
	return slices.ContainsFunc(ownPackages, func(p string) bool { return strings.HasPrefix(name, p) })
}
