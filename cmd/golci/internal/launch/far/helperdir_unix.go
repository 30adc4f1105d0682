//go:build unix

package far

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// errDir: a directory is not one that the script has made for a copy of golci.
var errDir = errors.New("no directory for a copy of golci")

// OwnDir checks that the script of golci run made dir for the program self, so that it may be removed with its
// contents. It must have such a name and belong to this user alone, and self must lie in it.
func OwnDir(dir, self string) error {
	st, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	owner, ok := st.Sys().(*syscall.Stat_t)
	switch {
	case !filepath.IsAbs(dir) || !strings.HasPrefix(filepath.Base(dir), helperDir):
		return fmt.Errorf("%w: %s does not begin with %s", errDir, dir, helperDir)
	case !st.IsDir() || st.Mode().Perm() != 0o700 || !ok || int(owner.Uid) != os.Geteuid():
		return fmt.Errorf("%w: %s is not a directory of this user alone", errDir, dir)
	}
	there, err := os.Stat(filepath.Dir(self))
	if err != nil {
		return err
	}
	if !os.SameFile(st, there) {
		return fmt.Errorf("%w: this program does not lie in %s", errDir, dir)
	}
	return nil
}
