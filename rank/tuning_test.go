package rank

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/golci/golci/internal/observe/settings"
)

// TestTuningIsChecked: values that no layer takes are an error, which names the field.
func TestTuningIsChecked(t *testing.T) {
	for name, u := range map[string]Tuning{
		"Bank": {Bank: 1 << 30}, "MaxLoan": {MaxLoan: -1}, "RevokeLimit": {RevokeLimit: 256}, "Scavenge": {Scavenge: 65},
		"MinRTO": {MinRTO: 1}, "ExitSettle": {ExitSettle: -1},
	} {
		_, err := Config{Tuning: u}.readSettings()
		if !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), "Tuning."+name+" is") {
			t.Errorf("%+v: %v", u, err)
		}
	}
}

// TestRemovedSettings: a setting that is one no more is an error, which names what has taken its place; a field of
// Tuning is there.
func TestRemovedSettings(t *testing.T) {
	for env, want := range map[string]string{
		"GOLCI_BANK": "Bank", "GOLCI_LOAN_MAX": "MaxLoan", "GOLCI_LENDER_LIMIT": "LenderLimit",
		"GOLCI_REVOKE_LIMIT": "RevokeLimit", "GOLCI_SCAVENGE": "Scavenge", "GOLCI_EPOCH": "Epoch",
		"GOLCI_MSG_LIMIT": "Messages", "GOLCI_SB_CHUNKS": "RequestChunks", "GOLCI_RPL_CHUNKS": "ReplyChunks",
		"GOLCI_SAFE_LIMIT": "PollReplies", "GOLCI_AM_LIMIT": "PollRequests", "GOLCI_SYS_LIMIT": "PollSystem",
		"GOLCI_UDP_MINRTO": "MinRTO", "GOLCI_EXITSETTLE": "ExitSettle",
		"GOLCI_UDP_DEADAFTER": "GOLCI_DEADAFTER", "GOLCI_CREDIT_STATS": "GOLCI_TRACE=credits=FILE",
	} {
		_, err := with(env, "1").readSettings()
		to, ok := settings.Successor(env)
		told := errors.Is(err, ErrArgument) && strings.HasSuffix(err.Error(), "use "+to)
		if !ok || !strings.Contains(to, want) || !told {
			t.Errorf("%s: %v, want %s", env, err, want)
		}
		if _, field, ok := strings.Cut(to, "field "); ok {
			name, _, _ := strings.Cut(field, ",")
			if _, ok := reflect.TypeFor[Tuning]().FieldByName(name); !ok {
				t.Errorf("%s: Tuning has no field %s", env, name)
			}
		}
	}
}
