//go:build unix

package far

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestScriptQuotes: a path with anything in it is one word of the script, which is one command.
func TestScriptQuotes(t *testing.T) {
	s := helperScript("mark", program{path: "/it's here/golci"})
	if !strings.Contains(s, `g='/it'\''s here/golci'`) || !strings.HasPrefix(s, "{\n") || !strings.HasSuffix(s, "\n}\n") {
		t.Errorf("%s", s)
	}
	if fitsMachine("Linux", "armv7l") || fitsMachine("", "") {
		t.Error("a copy would be made for a machine it does not run on")
	}
}

// stranger is a user that is neither this one nor root.
const stranger = 54321

// safeDir is a directory that no other user can reach, the only kind from which a program is taken.
func safeDir(t *testing.T) string {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil || exposedDir(filepath.Join(home, "x")) != "" {
		t.Skipf("skipped: no home directory that is safe from other users: %q, %v", home, err)
	}
	dir, err := os.MkdirTemp(home, "golci-test-")
	if err != nil {
		t.Skipf("skipped: the home directory cannot be written: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// TestScriptTakes: a program at the given path is started only if it is the head's, and no other user can have put it
// there. Otherwise a copy is asked for.
func TestScriptTakes(t *testing.T) {
	const text = "#!/bin/sh\necho started $1\n"
	mode := func(m os.FileMode) func(*testing.T, string, string) error {
		return func(_ *testing.T, path, dir string) error { return os.Chmod(path, m) }
	}
	for name, c := range map[string]struct {
		change func(t *testing.T, path, dir string) error
		taken  bool
	}{
		"same": {nil, true},
		"other program": {func(_ *testing.T, path, _ string) error {
			return os.WriteFile(path, []byte(text+"#\n"), 0o700)
		}, false},
		"no program":        {func(_ *testing.T, path, _ string) error { return os.Remove(path) }, false},
		"not executable":    {mode(0o600), false},
		"others may write":  {mode(0o702), false},
		"a group may write": {mode(0o720), false},
		"sticky directory above": {func(_ *testing.T, _, dir string) error {
			return os.Chmod(dir, os.ModeSticky|0o777)
		}, false},
		"group's directory above": {func(_ *testing.T, _, dir string) error { return os.Chmod(dir, 0o770) }, false},
		"link": {func(_ *testing.T, path, _ string) error {
			return errors.Join(os.Rename(path, path+"2"), os.Symlink(path+"2", path))
		}, false},
		"another's program":         {func(t *testing.T, path, _ string) error { return give(t, path) }, false},
		"another's directory above": {func(t *testing.T, _, dir string) error { return give(t, dir) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			top := filepath.Join(safeDir(t), "it's a place")
			path := filepath.Join(top, "bin", "golci")
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
			if c.change != nil {
				if err := c.change(t, path, top); err != nil {
					t.Fatal(err)
				}
			}
			sum := sha256.Sum256([]byte(text))
			s := helperScript("mark", program{path: path, sum: hex.EncodeToString(sum[:]), size: 1 << 20})
			cmd := exec.CommandContext(t.Context(), "sh")
			cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
			cmd.Stdin = strings.NewReader(s)
			var complaints bytes.Buffer
			cmd.Stderr = &complaints
			out, _ := cmd.Output() // without a copy it fails
			want := "mark copy "
			if c.taken {
				want = "mark ready\nstarted helper\n"
			}
			if !strings.HasPrefix(string(out), want) || complaints.Len() > 0 {
				t.Errorf("%q, want %q; %s", out, want, &complaints)
			}
		})
	}
}

func give(t *testing.T, path string) error {
	if os.Geteuid() != 0 {
		t.Skip("skipped: needs root to give a file away")
	}
	return os.Chown(path, stranger, stranger)
}

// TestProgramFor: the path of this program is not offered if other users may write to a directory of it.
func TestProgramFor(t *testing.T) {
	safe := filepath.Join(safeDir(t), "golci")
	temp := filepath.Join(t.TempDir(), "golci")
	link := filepath.Join(filepath.Dir(safe), "link")
	for _, path := range []string{safe, temp} {
		if err := os.WriteFile(path, []byte("golci"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(temp, link); err != nil {
		t.Fatal(err)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("golci")))
	for _, c := range []struct {
		far  Config
		want program
	}{
		{Config{Self: safe}, program{safe, sum, 5}},
		{Config{Self: temp}, program{"", sum, 5}},
		{Config{Self: link}, program{"", sum, 5}},
		{Config{Self: safe, Helper: temp}, program{temp, "", 0}}, // the user has said so
	} {
		if got, err := programFor(&c.far); got != c.want || err != nil {
			t.Errorf("%+v: %+v, %v", c.far, got, err)
		}
	}
}

// TestOwnDir: a helper removes only what was made for its own copy.
func TestOwnDir(t *testing.T) {
	make := func(name string, mode os.FileMode) string {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "golci"), nil, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	own := make(helperDir+"x1", 0o700)
	link := filepath.Join(t.TempDir(), helperDir+"x1")
	if err := os.Symlink(own, link); err != nil {
		t.Fatal(err)
	}
	named, shared := make("home", 0o700), make(helperDir+"x2", 0o755)
	for _, c := range []struct {
		dir, self string
		right     bool
	}{
		{own, own + "/golci", true},
		{named, named + "/golci", false},
		{shared, shared + "/golci", false},
		{own, named + "/golci", false},
		{link, own + "/golci", false},
		{own + "/none", own + "/golci", false},
	} {
		if err := OwnDir(c.dir, c.self); (err == nil) != c.right {
			t.Errorf("%s for %s: %v", c.dir, c.self, err)
		}
	}
}
