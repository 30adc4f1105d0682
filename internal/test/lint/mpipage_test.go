package lint

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/golci/golci/internal/abi"
)

const mpiPage = "docs/mpi-programmers.md"

// unlistedFamilies are the families that the page leaves out as a whole, and says so at its beginning.
var unlistedFamilies = []string{"handle", "tool", "callback"}

var (
	mpiCall = regexp.MustCompile("`MPI_(\\w+)`")
	mpiForm = regexp.MustCompile("`(?:mpi\\.([A-Z]\\w*)|(Comm|Proc|Request|Status|Message|Win|Group)\\.([A-Z]\\w*))`")
)

// mpiFormsIn are the names of package mpi in a text, methods with their type.
func mpiFormsIn(text string) (names []string) {
	for _, m := range mpiForm.FindAllStringSubmatch(text, -1) {
		if m[1] != "" {
			names = append(names, m[1])
		} else {
			names = append(names, m[2]+"."+m[3])
		}
	}
	return names
}

// missingCalls are the functions of the standard's table that a text does not name.
func missingCalls(t *testing.T, text string) (missing []string) {
	t.Helper()
	table, err := abi.Load()
	if err != nil {
		t.Fatal(err)
	}
	named := make(map[string]bool)
	for _, m := range mpiCall.FindAllStringSubmatch(text, -1) {
		named[m[1]] = true
	}
	for _, f := range table.Functions {
		if !named[f.Name] && !slices.Contains(unlistedFamilies, f.Family) && !strings.HasPrefix(f.Name, "Abi_") {
			missing = append(missing, f.Name)
		}
	}
	return missing
}

// deniedCalls are the functions that a row of a text calls missing though package mpi has one of that name: MPI_Bsend
// is Bsend, MPI_Comm_group is Comm.Group.
func deniedCalls(text string, known map[string]bool) (denied []string) {
	plain := make(map[string]bool)
	for name := range known {
		plain[strings.ToLower(strings.ReplaceAll(name, ".", ""))] = true
	}
	for line := range strings.Lines(text) {
		calls, form, ok := strings.Cut(line, " | ")
		if !ok || !strings.HasPrefix(form, "none ") {
			continue
		}
		for _, m := range mpiCall.FindAllStringSubmatch(calls, -1) {
			if plain[strings.ToLower(strings.ReplaceAll(m[1], "_", ""))] {
				denied = append(denied, m[1])
			}
		}
	}
	return denied
}

// TestMPIPageHasEveryCall: the page for MPI programmers has a row for each function of the standard, and names nothing
// of package mpi that is not there.
func TestMPIPageHasEveryCall(t *testing.T) {
	var text string
	for _, f := range files(t) {
		if f.name == mpiPage {
			text = string(f.text)
		}
	}
	for _, name := range missingCalls(t, text) {
		t.Errorf("%s does not name MPI_%s", mpiPage, name)
	}
	known := exported(goFiles(t), "mpi")
	for _, name := range deniedCalls(text, known) {
		t.Errorf("%s says none for MPI_%s, but package mpi has it", mpiPage, name)
	}
	names := mpiFormsIn(text)
	for _, name := range names {
		if !known[name] {
			t.Errorf("%s: package mpi has no %s", mpiPage, name)
		}
	}
	if len(names) < 100 {
		t.Errorf("only %d names were found", len(names))
	}
}

// TestMPIPageRules: a page that lacks a call is found, and so is a name that does not exist.
func TestMPIPageRules(t *testing.T) {
	without := missingCalls(t, "`MPI_Send`")
	if slices.Contains(without, "Send") || !slices.Contains(without, "Recv") || len(without) < 400 {
		t.Errorf("missing are %d calls, Send: %v", len(without), slices.Contains(without, "Send"))
	}
	known := exported(goFiles(t), "mpi")
	for _, name := range mpiFormsIn("`mpi.Nope`, `Comm.Never`") {
		if known[name] {
			t.Errorf("%s is known", name)
		}
	}
	denied := deniedCalls("| `MPI_Send`, `MPI_Comm_rank`, `MPI_Nope` | none | why |\n| `MPI_Recv` | `mpi.Recv` |\n", known)
	if !slices.Equal(denied, []string{"Send", "Comm_rank"}) {
		t.Errorf("denied are %v", denied)
	}
	if !known["Send"] || !known["Comm.Rank"] {
		t.Errorf("Send and Comm.Rank are not among %d names", len(slices.Collect(maps.Keys(known))))
	}
}
