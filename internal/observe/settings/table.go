package settings

import "time"

// The settings. 0 or auto means that the package which reads it chooses, from the machine or by its own default table.
var (
	Workers = defineInt("GOLCI_WORKERS", "0", 0, 1<<14,
		"Workers (pinned OS threads that run threads) of a rank; 0: one for each core the rank may use.")
	Threads = defineInt("GOLCI_THREADS", "262144", 1, 1<<18,
		"Threads alive at once on one worker.")
	Scheduler = defineWord("GOLCI_SCHEDULER", "auto",
		"What threads are: coroutines (fult) or goroutines; auto: coroutines where the release of Go passes "+
			"the self-check.",
		"auto", "fult", "goroutine")
	Server = defineWord("GOLCI_SERVER", "auto",
		"Who polls the network: a pinned server of its own, idle workers, or whoever waits.",
		"auto", "dedicated", "worker", "waiter")
	Spin = defineDuration("GOLCI_SPIN", "50us", 0,
		"How long an idle worker or server polls before it sleeps.")
	Conduit = defineWord("GOLCI_CONDUIT", "auto",
		"How messages travel.", "auto", "shm", "udp", "local", "ofi")
	OFIProvider = defineText("GOLCI_OFI_PROVIDER", "auto",
		"Provider of libfabric for GOLCI_CONDUIT=ofi, as fi_info names it, such as efa or tcp;ofi_rxm; auto: the first "+
			"that reaches other nodes.")
	OFIDomain = defineText("GOLCI_OFI_DOMAIN", "auto",
		"Domain of that provider, as fi_info names it: a card or an interface; auto: the first.")
	UDPSecurity = defineWord("GOLCI_UDP_SECURITY", "encrypt",
		"How datagrams are protected.", "encrypt", "authenticate", "trust")
	UDPInterfaces = defineText("GOLCI_UDP_INTERFACES", "auto",
		"Interfaces for datagrams: names, networks, addresses or patterns of them, with commas between; ! leaves out.")
	UDPBuffer = defineSize("GOLCI_UDP_BUFFER", "0", 0, 1<<30,
		"Bytes wanted for the queues of the socket; 0: from the credits, 4 MiB at least.")
	UDPFaults = defineText("GOLCI_UDP_FAULTS", "off",
		"Faults put upon datagrams on purpose, such as loss=0.01,dup=0.05,reorder=0.1,seed=7; off: none.")
	DeadAfter = defineDuration("GOLCI_DEADAFTER", "10s", 10*time.Millisecond,
		"After how long without a sign of life a rank on another node is taken for dead.")
	Eager = defineSize("GOLCI_EAGER", "0", 0, 1<<20,
		"Largest message sent without asking the receiver first; 0: 16 KiB, over libfabric 15, and in small jobs up "+
			"to 64 KiB where that is quicker. Never more than a record and the loan of a peer hold.")
	Rendezvous = defineWord("GOLCI_RENDEZVOUS", "auto",
		"How a message that asks first travels between ranks of a node: in chunks through the segment, got by the "+
			"receiver, or got and put in halves; auto: as is measured to be quickest.",
		"auto", "stream", "get", "halves")
	Unexpected = defineSize("GOLCI_UNEXPECTED", "0", 0, 1<<40,
		"Bytes of unmatched eager messages kept for one peer; beyond it a send asks first. 0: an equal share "+
			"of 128 MiB, at least 1 MiB. Of all peers together 128 MiB are kept, or this if it is more.")
	Check = defineWord("GOLCI_CHECK", "auto",
		"Whether element types of messages and changes of send buffers are checked; auto: types in mpi.Run, "+
			"off elsewhere.",
		"auto", "types", "off")
	Collectives = defineWord("GOLCI_COLLECTIVES", "auto",
		"Whether collectives of ranks that share a node write to memory that all of them read, or send messages; auto: "+
			"memory where waiters spin.",
		"auto", "memory", "messages")
	FlowControl = defineWord("GOLCI_FLOWCONTROL", "auto",
		"Whether loans of receive space follow demand, stay as they are, or there are none; auto: dynamic "+
			"where a network joins ranks, else static.",
		"auto", "dynamic", "static", "none")
	Loan = defineInt("GOLCI_LOAN", "0", 0, 1<<15-1,
		"Credits (256 bytes each) lent to each peer at the start; 0: from the default table.")
	AMRecvSpace = defineSize("GOLCI_AMRECV_SPACE", "0", 0, 1<<36,
		"Receive space of a rank for requests, in place of the default table; what the loans leave is "+
			"the bank. 0: the default table.")
	Trace = defineSetting("GOLCI_TRACE", "text", "off",
		"File that gets each rank's timeline, for Perfetto; %r stands for the rank. A name that ends in .part gets "+
			"what golci trace merge takes. off: none. After it: ,limit=SIZE of its record (256MiB), and "+
			",credits=FILE for the rank's credits over time, one JSON object a line.",
		checkTrace)
	InitTimeout = defineDuration("GOLCI_INIT_TIMEOUT", "1m", time.Millisecond,
		"How long a rank waits at the start for the others, and Connect for Accept.")
	ExitTimeout = defineDuration("GOLCI_EXITTIMEOUT", "0", 0,
		"How long the end of a job may take before it is enforced; 0: 5s and 250ms for each rank, 6m at most.")
	Bind = defineWord("GOLCI_BIND", "core",
		"What golci run binds a rank to, where its flag -bind does not say, and whether ranks that nobody "+
			"has bound divide their cores.", "core", "none")
	Stuck = defineDuration("GOLCI_STUCK", "10s", 0,
		"After how long a worker that makes no progress is reported; 0: never, nor one that sleeps in its threads.")
	Dump = defineWord("GOLCI_DUMP", "calls",
		"What a rank tells on SIGQUIT: the calls that wait, with the largest groups if there are many; after them also "+
			"the stacks of goroutines and threads; or all, which leaves no group out.", "calls", "stacks", "all")
	Debug = defineBool("GOLCI_DEBUG", "off",
		"Report each step by which a rank finds its job, and why it binds no thread, on standard error.")
)
