package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var realmPage = regexp.MustCompile(`^docs/(design/)?realm[^/]*\.md$`)

// realmPages are the pages that show how package realm is used.
func realmPages(t *testing.T) (pages []file) {
	t.Helper()
	for _, f := range files(t) {
		if f.name == "README.md" || realmPage.MatchString(f.name) {
			pages = append(pages, f)
		}
	}
	if len(pages) < 5 {
		t.Fatalf("only %d pages were found", len(pages))
	}
	return pages
}

// realmNames is what pages take as given in their blocks of code.
const realmNames = `package main

import (
	"context"
	"log"

	"github.com/golci/golci/realm"
)

var _ = log.Fatal

type (
	State    struct{ N int64 }
	particle struct{ p, n float64 }
)

var (
	ctx    context.Context
	rt     *realm.Runtime
	c      *realm.Ctx
	x      float64
	err    error
	id     realm.ReservationID[State]
	after  realm.Event
	proc   realm.Processor
	update realm.Task[realm.ReservationID[State]]
	p, n   realm.Field
	other  realm.Instance
	dst    realm.Instance
	src    realm.Instance
)

func work(int) error { return err }

func main() {}
`

// blocks are the blocks of Go code in a page that use package realm.
func blocks(page []byte) (list []string) {
	rest := string(page)
	for {
		_, after, ok := strings.Cut(rest, "```go\n")
		if !ok {
			return list
		}
		var block string
		block, rest, _ = strings.Cut(after, "```")
		if strings.Contains(block, "realm.") {
			list = append(list, block)
		}
	}
}

// compiled is what the compiler says about blocks of code, but for variables that a block only shows.
func compiled(t *testing.T, list []string) (wrong []string) {
	t.Helper()
	var text strings.Builder
	text.WriteString(realmNames)
	for _, b := range list {
		text.WriteString("\nfunc _() {\n" + strings.ReplaceAll(b, "{ … }", "{ panic(0) }") + "}\n")
	}
	name := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(name, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-gcflags=-e", "-o", os.DevNull, name)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "#") && !strings.Contains(line, "declared and not used") {
			wrong = append(wrong, line)
		}
	}
	if err != nil && len(out) == 0 {
		t.Fatal(err)
	}
	return wrong
}

// TestRealmBlocksCompile: the code in the pages of package realm is code.
func TestRealmBlocksCompile(t *testing.T) {
	n := 0
	for _, f := range realmPages(t) {
		list := blocks(f.text)
		n += len(list)
		for _, line := range compiled(t, list) {
			t.Errorf("%s: %s", f.name, line)
		}
	}
	if n < 5 {
		t.Errorf("only %d blocks were found", n)
	}
	if wrong := compiled(t, []string{"a := realm.Spawn(rt, proc, update)\n"}); len(wrong) == 0 {
		t.Error("a call that lacks an argument is not found")
	}
}

// realmName is a name of package realm, or a method called on a variable, as pages write them.
var realmName = regexp.MustCompile("\\brealm\\.([A-Z]\\w*)|`(rt|c|u|b|r|id)\\.([A-Z]\\w*)")

// realmTypes are the types of variables in pages.
var realmTypes = map[string]string{
	"rt": "Runtime", "c": "Ctx", "u": "UserEvent", "b": "Barrier", "r": "Reservation", "id": "BarrierID",
}

// TestRealmPagesNameWhatExists: what pages name of package realm is there; so is what the table of Realm's calls
// translates them to.
func TestRealmPagesNameWhatExists(t *testing.T) {
	known := exported(goFiles(t), "realm")
	n := 0
	for _, f := range realmPages(t) {
		names := realmNamesIn(string(f.text))
		if _, table, ok := strings.Cut(string(f.text), "| Realm (C++) | Here |\n|---|---|\n"); ok {
			names = append(names, translations(table)...)
		}
		n += len(names)
		for _, name := range names {
			if !known[name] && !known["Runtime."+name] {
				t.Errorf("%s: package realm has no %s", f.name, name)
			}
		}
	}
	if n < 80 {
		t.Errorf("only %d names were found", n)
	}
	wrong := append(realmNamesIn("`realm.Nope`, `rt.Never(1)`"), translations("| `A::b` | `Nowhere`, a |\n")...)
	for _, name := range wrong {
		if known[name] {
			t.Errorf("%s is known", name)
		}
	}
}

func realmNamesIn(text string) (names []string) {
	for _, m := range realmName.FindAllStringSubmatch(text, -1) {
		if m[1] != "" {
			names = append(names, m[1])
		} else {
			names = append(names, realmTypes[m[2]]+"."+m[3])
		}
	}
	return names
}

var bareName = regexp.MustCompile("`(?:\\[\\])?([A-Z]\\w*)[(`]")

// translations are the names without a variable in the second column of a table.
func translations(table string) (names []string) {
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		if len(cells) < 2 {
			break
		}
		for _, m := range bareName.FindAllStringSubmatch(cells[1], -1) {
			names = append(names, m[1])
		}
	}
	return names
}
