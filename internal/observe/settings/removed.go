package settings

// What has taken the place of variables that were settings.
const (
	tuningField   = "rank.Config.Tuning in a Go program, field "
	exitSuccessor = "GOLCI_EXITTIMEOUT=TIME, which sets the whole time"
)

// removed are variables that were settings, with what to use in their place.
var removed = map[string]string{
	"GOLCI_UDP_DEADAFTER": "GOLCI_DEADAFTER",
	"GOLCI_OFI_DEADAFTER": "GOLCI_DEADAFTER",

	"GOLCI_EXITTIMEOUT_MIN":    exitSuccessor,
	"GOLCI_EXITTIMEOUT_FACTOR": exitSuccessor,
	"GOLCI_EXITTIMEOUT_MAX":    exitSuccessor,
	"GOLCI_EXITSETTLE":         tuningField + "ExitSettle",

	"GOLCI_TRACE_LIMIT":  "GOLCI_TRACE=FILE,limit=SIZE",
	"GOLCI_CREDIT_STATS": "GOLCI_TRACE=credits=FILE",

	"GOLCI_BANK":         tuningField + "Bank, or GOLCI_AMRECV_SPACE",
	"GOLCI_LOAN_MAX":     tuningField + "MaxLoan",
	"GOLCI_LENDER_LIMIT": tuningField + "LenderLimit",
	"GOLCI_REVOKE_LIMIT": tuningField + "RevokeLimit",
	"GOLCI_SCAVENGE":     tuningField + "Scavenge",
	"GOLCI_EPOCH":        tuningField + "Epoch",
	"GOLCI_MSG_LIMIT":    tuningField + "Messages",
	"GOLCI_SB_CHUNKS":    tuningField + "RequestChunks",
	"GOLCI_RPL_CHUNKS":   tuningField + "ReplyChunks",
	"GOLCI_SAFE_LIMIT":   tuningField + "PollReplies",
	"GOLCI_AM_LIMIT":     tuningField + "PollRequests",
	"GOLCI_SYS_LIMIT":    tuningField + "PollSystem",
	"GOLCI_UDP_MINRTO":   tuningField + "MinRTO",

	"GOLCI_ALLOCATION": "golci run -allocation",
	"GOLCI_CC":         "golci cc -with-cc",
	"GOLCI_CXX":        "golci cc -with-cxx",
	"GOLCI_CLIB":       "golci cc -with-lib",
}

// Successor is what to use in the place of a variable that was a setting; !ok: it was none.
func Successor(env string) (text string, ok bool) {
	text, ok = removed[env]
	return text, ok
}
