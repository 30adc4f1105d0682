// Package tool describes the variables that tools may look at: settings and counters. It is the one registry behind
// package mpi, `golci info` and the C functions MPI_T_* (chapter 15 of the MPI standard, version 4.1). It is pure: who
// keeps a value reads it.
package tool

import "slices"

// Verbosity tells for whom a variable is of use (15.3.1). The numbers are those of MPI's binary interface.
type Verbosity int

// Levels of users, and of those who tune or develop.
const (
	UserBasic      Verbosity = 0x09
	UserDetail     Verbosity = 0x0a
	UserAll        Verbosity = 0x0c
	TunerBasic     Verbosity = 0x11
	TunerDetail    Verbosity = 0x12
	TunerAll       Verbosity = 0x14
	DeveloperBasic Verbosity = 0x21
)

// Binding tells of which kind of object each has a value of its own (15.3.2). All variables are of the rank.
type Binding int

// NoObject is the binding of a variable of the rank.
const NoObject Binding = 1

// Scope tells who may change a control variable (15.3.6).
type Scope int

// Constant is the scope of a value that stays as it is while the process lives.
const Constant Scope = 1

// Class tells how the value of a performance variable moves (15.3.7).
type Class int

// Level is what there is now, Size what there can be, and Counter how often something has happened.
const (
	Level   Class = 2
	Size    Class = 3
	Counter Class = 7
)

// String is the class in one word.
func (c Class) String() string {
	switch c {
	case Level:
		return "level"
	case Size:
		return "size"
	case Counter:
		return "counter"
	}
	return "unknown"
}

// Category is a group of variables (15.3.9). It has no groups within.
type Category struct {
	Name, Doc string
	controls  []string // names of settings
	counters  []ID
}

// categories are in the order in which they are shown. Each variable is in one of them.
var categories = []Category{
	{
		Name: "progress", Doc: "Who polls and who waits, and how.",
		controls: []string{"GOLCI_SERVER", "GOLCI_SPIN"},
	},
	{
		Name: "threads", Doc: "Light-weight threads and their workers.",
		controls: []string{"GOLCI_WORKERS", "GOLCI_THREADS", "GOLCI_SCHEDULER", "GOLCI_BIND", "GOLCI_STUCK"},
		counters: []ID{Workers, ThreadsAlive},
	},
	{
		Name: "matching", Doc: "Receives, and messages that wait for one.",
		controls: []string{"GOLCI_EAGER", "GOLCI_RENDEZVOUS", "GOLCI_UNEXPECTED", "GOLCI_CHECK", "GOLCI_COLLECTIVES"},
		counters: []ID{
			PostedReceives, ReceivesUnderWay, PendingSends, PendingCalls, UnexpectedMessages, UnexpectedBytes, WaitingProbes,
		},
	},
	{
		Name: "credits", Doc: "Receive space that ranks lend each other.",
		controls: []string{"GOLCI_FLOWCONTROL", "GOLCI_LOAN", "GOLCI_AMRECV_SPACE"},
		counters: []ID{
			RequestsReceived, CreditsBanked, CreditsLent, CreditsBorrowed, CreditsInUse, CreditEpochs, CreditNeeds,
			CreditsGranted, CreditNeedsLimited, CreditNeedsDenied, CreditRevokes, CreditsReturned,
		},
	},
	{
		Name: "network", Doc: "Carriers of messages, and datagrams.",
		controls: []string{
			"GOLCI_CONDUIT", "GOLCI_UDP_SECURITY", "GOLCI_UDP_INTERFACES", "GOLCI_UDP_BUFFER", "GOLCI_UDP_FAULTS",
			"GOLCI_OFI_PROVIDER", "GOLCI_OFI_DOMAIN", "GOLCI_DEADAFTER",
		},
		counters: []ID{
			DatagramsSent, DatagramsReceived, DatagramsRefused, DatagramsDropped, DatagramsMalformed, DatagramsForeign,
			SegmentsSent, SegmentsResent, RetransmissionTimeouts, SegmentsDuplicate,
		},
	},
	{
		Name: "job", Doc: "The start and the end of a job.",
		controls: []string{"GOLCI_INIT_TIMEOUT", "GOLCI_EXITTIMEOUT"},
	},
	{
		Name: "reports", Doc: "Timelines, statistics and reports.",
		controls: []string{"GOLCI_TRACE", "GOLCI_DUMP", "GOLCI_DEBUG"},
	},
}

// Categories lists the groups. The caller must not change them.
func Categories() []Category { return categories }

// Controls lists the places of the category's control variables in the result of the function Controls.
func (c *Category) Controls() []int {
	all := Controls()
	places := make([]int, len(c.controls))
	for i, name := range c.controls {
		places[i] = slices.IndexFunc(all, func(v Control) bool { return v.Name == name })
	}
	return places
}

// Counters lists the category's performance variables.
func (c *Category) Counters() []ID { return c.counters }

// categoryOf is the place of the category that has chooses, or -1.
func categoryOf(has func(c *Category) bool) int {
	return slices.IndexFunc(categories, func(c Category) bool { return has(&c) })
}
