package launch

import (
	"fmt"
	"runtime"
	"strings"
)

// The remote shell is only ever asked to run "sh", so it does not matter whether it passes words on or has them parsed once more
// by somebody's login shell. All else goes through its standard input: first a script, which is one command, so that sh
// has read all of it before it runs any; then, when the script says that it must, the program itself; then the ticket.
const remoteCommand = "sh"

// HelperCommand is the sub-command that makes golci a helper. Its argument, if any, is a directory to remove at once.
const HelperCommand = "helper"

// What the script says, after its mark.
const (
	wordReady = "ready" // the helper reads from now on
	wordCopy  = "copy"  // a copy is wanted; system and machine follow
	wordFail  = "fail"  // why
)

// script starts the helper at path; if there is none and size is not 0 it takes a copy of so many bytes first. mark
// begins each line it says, which is how the head finds them among what login scripts say.
func script(mark, path string, size int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{\ng=%s\n", Quote(path))
	fmt.Fprintf(&b, "if test -f \"$g\" && test -x \"$g\"; then\necho %s %s\nexec \"$g\" %s\nfi\n", mark, wordReady, HelperCommand)
	if size > 0 {
		fmt.Fprintf(&b, `umask 077
d=$(mktemp -d "${TMPDIR:-/tmp}/golci-helper-XXXXXXXX") || { echo %[1]s %[4]s no place for a copy; exit 1; }
echo %[1]s %[3]s $(uname -s) $(uname -m)
head -c %[5]d >"$d/golci"
if test "$(wc -c <"$d/golci")" -eq %[5]d && chmod 700 "$d/golci"; then
echo %[1]s %[2]s
"$d/golci" %[6]s "$d"
c=$?
else
echo %[1]s %[4]s the copy is not complete
c=1
fi
rm -rf "$d"
exit $c
`, mark, wordReady, wordCopy, wordFail, size, HelperCommand)
	} else {
		fmt.Fprintf(&b, "echo %s %s there is no program \"$g\"\nexit 1\n", mark, wordFail)
	}
	b.WriteString("}\n")
	return b.String()
}

// unames has what uname says for the names of Go.
var unames = map[string]string{
	"Linux": "linux", "Darwin": "darwin", "FreeBSD": "freebsd",
	"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64",
}

// fits says whether a copy of this program runs on a machine whose uname says system and machine.
func fits(system, machine string) bool {
	return unames[system] == runtime.GOOS && unames[machine] == runtime.GOARCH
}
