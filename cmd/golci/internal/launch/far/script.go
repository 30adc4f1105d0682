package far

import (
	"fmt"
	"runtime"
	"strings"
)

// The remote shell only ever runs "sh". So it may pass words on, or have somebody's login shell parse them again. All
// else goes through its standard input. First comes a script, which is one command, so that sh has read all of it
// before it runs any. Then comes the program itself, if the script asks for it; then the ticket.
const remoteCommand = "sh"

// helperCommand is the sub-command that makes golci a helper. Its argument, if any, is a directory to remove at once.
const helperCommand = "helper"

// helperInput is the flag of a helper that inherits the standard input of rank 0: Input has it.
const helperInput = "-input"

// helperDir is the beginning of the name of that directory.
const helperDir = "golci-helper-"

// Words of the script, after its mark.
const (
	wordReady = "ready" // the helper reads from now on
	wordCopy  = "copy"  // a copy is wanted; system and machine follow
	wordFail  = "fail"  // why
)

// program is the program that the script may start on another machine.
type program struct {
	path string // where golci may lie there; "": nowhere
	sum  string // SHA-256 that it must have there, hexadecimal; "": the user has named the path, which is not checked
	size int64  // of the copy that is sent where it does not lie there; 0: none is
}

// checks are functions of the script. same says whether the file $g is the program with the digest $h, put there by no
// other user. The file, and each directory on the path to it, must belong to this user or to root. Only its owner may
// write it. If a tool is missing the answer is no, and a copy is taken.
const checks = `u=$(id -u)
own() { test -n "$(find "$1" -prune \( -user 0 -o -user "$u" \) ! -perm -020 ! -perm -002 -print 2>/dev/null)"; }
same() {
test -f "$g" && test -x "$g" && test ! -h "$g" && own "$g" || return 1
d=$(cd -P "${g%/*}/" 2>/dev/null && pwd -P) || return 1
while own "${d:-/}"; do
if test -z "$d" || test "$d" = /; then
s=$({ sha256sum <"$g" || shasum -a 256 <"$g"; } 2>/dev/null)
test "${s%% *}" = "$h"
return
fi
d=${d%/*}
done
return 1
}
`

// helperScript starts the helper: p.path if that may be taken, else a copy. Each of its lines begins with mark, so that
// the head finds them among the output of login scripts.
func helperScript(mark string, p program) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{\ng=%s\nh=%s\n", quoteWord(p.path), quoteWord(p.sum))
	test := "test -f \"$g\" && test -x \"$g\""
	if p.sum != "" {
		b.WriteString(checks)
		test = "same"
	}
	if p.path != "" {
		fmt.Fprintf(&b, "if %s; then\necho %s %s\nexec \"$g\" %s\nfi\n", test, mark, wordReady, helperCommand)
	}
	if p.size > 0 {
		fmt.Fprintf(&b, `umask 077
d=$(mktemp -d "${TMPDIR:-/tmp}/%[7]sXXXXXXXX") || { echo %[1]s %[4]s no place for a copy; exit 1; }
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
`, mark, wordReady, wordCopy, wordFail, p.size, helperCommand, helperDir)
	} else {
		fmt.Fprintf(&b, "echo %s %s there is no program \"$g\"\nexit 1\n", mark, wordFail)
	}
	b.WriteString("}\n")
	return b.String()
}

var unames = map[string]string{
	"Linux": "linux", "Darwin": "darwin", "FreeBSD": "freebsd",
	"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64",
}

// fitsMachine says whether a copy of this program runs on a machine whose uname says system and machine.
func fitsMachine(system, machine string) bool {
	return unames[system] == runtime.GOOS && unames[machine] == runtime.GOARCH
}
