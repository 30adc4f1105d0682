package tool

import "slices"

// ID names a performance variable. It is the place of its value among Values.
type ID int

// Performance variables.
const (
	Workers ID = iota
	ThreadsAlive

	PostedReceives
	ReceivesUnderWay
	PendingSends
	PendingCalls
	UnexpectedMessages
	UnexpectedBytes
	WaitingProbes

	RequestsReceived
	CreditsBanked
	CreditsLent
	CreditsBorrowed
	CreditsInUse
	CreditEpochs
	CreditNeeds
	CreditsGranted
	CreditNeedsLimited
	CreditNeedsDenied
	CreditRevokes
	CreditsReturned

	DatagramsSent
	DatagramsReceived
	DatagramsRefused
	DatagramsDropped
	DatagramsMalformed
	DatagramsForeign
	SegmentsSent
	SegmentsResent
	RetransmissionTimeouts
	SegmentsDuplicate

	NumCounters
)

// Values are those of all performance variables of a rank.
type Values [NumCounters]uint64

// Performance is a performance variable (15.3.7). A tool can neither write nor stop it. It is not read and reset at
// once. Its value is of the rank since its start.
type Performance struct {
	ID        ID
	Name      string
	Doc       string // one sentence, with the unit
	Class     Class
	Verbosity Verbosity
	Category  int // its place among the categories
}

func defineVariable(id ID, name string, class Class, v Verbosity, doc string) Performance {
	p := Performance{ID: id, Name: name, Doc: doc, Class: class, Verbosity: v}
	p.Category = categoryOf(func(c *Category) bool { return slices.Contains(c.counters, id) })
	return p
}

// Counters lists the performance variables by their IDs.
func Counters() []Performance {
	return []Performance{
		defineVariable(Workers, "workers", Size, UserBasic, "Workers of the rank: OS threads that run light-weight threads."),
		defineVariable(ThreadsAlive, "threads_alive", Level, UserBasic, "Light-weight threads that have not ended."),

		defineVariable(PostedReceives, "posted_receives", Level, UserBasic, "Receives that wait for a message."),
		defineVariable(ReceivesUnderWay, "receives_under_way", Level, UserDetail, "Receives whose message is on its way."),
		defineVariable(PendingSends, "pending_sends", Level, UserBasic, "Sends that their receiver has not taken."),
		defineVariable(PendingCalls, "pending_calls", Level, UserDetail,
			"Operations above messages: collectives that do not wait, agreements, generalized and partitioned requests."),
		defineVariable(UnexpectedMessages, "unexpected_messages", Level, UserBasic, "Messages that wait for a receive."),
		defineVariable(UnexpectedBytes, "unexpected_bytes", Level, UserBasic,
			"Bytes kept for eager messages that wait for a receive."),
		defineVariable(WaitingProbes, "waiting_probes", Level, UserDetail, "Calls that wait for a message to look at."),

		defineVariable(RequestsReceived, "requests_received", Counter, UserBasic,
			"Requests received: eager messages, envelopes of others, and what else takes credits."),
		defineVariable(CreditsBanked, "credits_banked", Level, TunerBasic, "Credits that are lent to nobody."),
		defineVariable(CreditsLent, "credits_lent", Level, TunerBasic, "Credits lent to other ranks."),
		defineVariable(CreditsBorrowed, "credits_borrowed", Level, TunerBasic, "Credits borrowed from other ranks."),
		defineVariable(CreditsInUse, "credits_in_use", Level, TunerBasic, "Borrowed credits that requests under way take."),
		defineVariable(CreditEpochs, "credit_epochs", Counter, TunerDetail, "Credit epochs that have ended."),
		defineVariable(CreditNeeds, "credit_needs", Counter, TunerBasic, "Wishes of other ranks for more credits."),
		defineVariable(CreditsGranted, "credits_granted", Counter, TunerBasic, "Credits by which loans have grown."),
		defineVariable(CreditNeedsLimited, "credit_needs_limited", Counter, TunerDetail, "Wishes that a limit has refused."),
		defineVariable(CreditNeedsDenied, "credit_needs_denied", Counter, TunerDetail, "Wishes that the bank has refused."),
		defineVariable(CreditRevokes, "credit_revokes", Counter, TunerDetail, "Messages that have asked for credits back."),
		defineVariable(CreditsReturned, "credits_returned", Counter, TunerDetail,
			"Credits that other ranks have given back."),

		defineVariable(DatagramsSent, "datagrams_sent", Counter, UserBasic, "Datagrams sent."),
		defineVariable(DatagramsReceived, "datagrams_received", Counter, UserBasic, "Datagrams received, also foreign ones."),
		defineVariable(DatagramsRefused, "datagrams_refused", Counter, TunerBasic, "Datagrams that the system did not take."),
		defineVariable(DatagramsDropped, "datagrams_dropped", Counter, TunerBasic,
			"Datagrams that the system had no room for, as far as it tells."),
		defineVariable(DatagramsMalformed, "datagrams_malformed", Counter, DeveloperBasic,
			"Datagrams of the job that were too long or against the rules."),
		defineVariable(DatagramsForeign, "datagrams_foreign", Counter, TunerBasic,
			"Datagrams that were of no rank of the job, or had been changed or repeated."),
		defineVariable(SegmentsSent, "segments_sent", Counter, UserDetail, "Parts of messages sent in datagrams, each once."),
		defineVariable(SegmentsResent, "segments_resent", Counter, UserBasic, "Parts of messages that were sent again."),
		defineVariable(RetransmissionTimeouts, "retransmission_timeouts", Counter, TunerBasic,
			"Times that no acknowledgement came until the end of its time."),
		defineVariable(SegmentsDuplicate, "segments_duplicate", Counter, TunerDetail,
			"Parts of messages that came once more."),
	}
}
