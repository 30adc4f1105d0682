package tool

import (
	"slices"
	"strings"

	"github.com/golci/golci/internal/observe/settings"
)

// Type is what a control variable holds.
type Type int

// Types of control variables. A duration is told in seconds.
const (
	Int     Type = iota // a whole number that fits 32 bits
	Word                // one of some words, by its place among them
	Bytes               // a number of bytes
	Seconds             // a time
	Text
)

// Control is a control variable (15.3.6): a setting. Nothing changes a setting of a rank that runs, so all of them are
// constant.
type Control struct {
	Name      string // of the environment variable
	Doc       string // one sentence
	Type      Type
	Words     []string // of a Word, in the order of their numbers; else nil
	Verbosity Verbosity
	Category  int // its place among the categories
}

// Scope tells who may change the variable: nobody.
func (*Control) Scope() Scope { return Constant }

// basics are the settings that are needed first.
var basics = []string{
	"GOLCI_CONDUIT", "GOLCI_WORKERS", "GOLCI_THREADS", "GOLCI_SERVER", "GOLCI_SPIN", "GOLCI_EAGER", "GOLCI_UDP_INTERFACES",
	"GOLCI_UDP_SECURITY", "GOLCI_INIT_TIMEOUT", "GOLCI_STUCK",
}

// switched are the words of a setting that is on or off.
var switched = []string{"off", "on"}

// Controls lists the control variables, in the order of the settings.
func Controls() []Control {
	known := settings.Known()
	out := make([]Control, len(known))
	for i := range known {
		out[i] = controlOf(&known[i])
	}
	return out
}

func controlOf(s *settings.Info) Control {
	c := Control{Name: s.Env, Doc: s.Doc, Verbosity: TunerDetail}
	if slices.Contains(basics, s.Env) {
		c.Verbosity = UserBasic
	}
	c.Category = categoryOf(func(g *Category) bool { return slices.Contains(g.controls, s.Env) })
	switch s.Kind {
	case "int":
		c.Type = Int
	case "bool":
		c.Type, c.Words = Word, switched
	case "size":
		c.Type = Bytes
	case "duration":
		c.Type = Seconds
	case "text":
		c.Type = Text
	default:
		c.Type, c.Words = Word, strings.Split(s.Kind, "|")
	}
	return c
}
