package settings

import "time"

// The settings. 0 or auto means that the package which reads it chooses, from the machine or by its own default table.
var (
	Workers = defineInt("GOLCI_WORKERS", "0", 0, 1<<14,
		"Workers (pinned OS threads that run threads) of a rank; 0: one for each core the rank may use.")
	Threads = defineInt("GOLCI_THREADS", "262144", 1, 1<<18,
		"Threads alive at once on one worker.")
	Server = defineWord("GOLCI_SERVER", "auto",
		"Who polls the network: a pinned server of its own, idle workers, or whoever waits.",
		"auto", "dedicated", "worker", "waiter")
	Spin = defineDuration("GOLCI_SPIN", "50us", 0,
		"How long an idle worker or server polls before it sleeps.")
	Conduit = defineWord("GOLCI_CONDUIT", "auto",
		"How messages travel.", "auto", "shm", "local", "portals")
	Eager = defineSize("GOLCI_EAGER", "0", 0, 1<<20,
		"Largest message sent without asking the receiver first; 0: the conduit's choice.")
	Unexpected = defineSize("GOLCI_UNEXPECTED", "0", 0, 1<<40,
		"Bytes of unmatched eager messages kept for one peer; beyond it a send asks first. 0: an equal share of 128 MiB, at least 1 MiB.")
	Loan = defineInt("GOLCI_LOAN", "0", 0, 1<<15,
		"Credits (256 bytes each) lent to each peer; 0: from the default table.")
	Segment = defineSize("GOLCI_SEGMENT", "64MiB", 1, 1<<46,
		"Memory of a rank that its peers reach by remote access.")
	SegmentMax = defineSize("GOLCI_SEGMENT_MAX", "0", 0, 1<<46,
		"Largest such memory that a rank may ask for; 0: what the system grants.")
	InitTimeout = defineDuration("GOLCI_INIT_TIMEOUT", "1m", time.Millisecond,
		"How long a rank waits at the start for the others.")
	ExitTimeout = defineDuration("GOLCI_EXITTIMEOUT", "0", 0,
		"How long the end of a job may take before it is enforced; 0: by the number of ranks.")
	ExitTimeoutMin = defineDuration("GOLCI_EXITTIMEOUT_MIN", "5s", 0,
		"What the number of ranks adds to, for the time of the end.")
	ExitTimeoutFactor = defineDuration("GOLCI_EXITTIMEOUT_FACTOR", "250ms", 0,
		"What each rank adds to the time of the end.")
	ExitTimeoutMax = defineDuration("GOLCI_EXITTIMEOUT_MAX", "6m", time.Millisecond,
		"The most that the number of ranks makes of the time of the end.")
	ExitSettle = defineDuration("GOLCI_EXITSETTLE", "50ms", 0,
		"How long a rank that learns of the end waits for an exit code of its own program.")
	Bind = defineWord("GOLCI_BIND", "core",
		"What golci run binds a rank to, where its flag -bind does not say.", "core", "none")
	Stuck = defineDuration("GOLCI_STUCK", "10s", 0,
		"After how long a worker that makes no progress is reported; 0: never.")
	Debug = defineBool("GOLCI_DEBUG", "off",
		"Report each step by which a rank finds its job, on standard error.")
)
