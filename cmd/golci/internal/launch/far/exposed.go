package far

import (
	"os"
	"path/filepath"
)

// exposedDir returns the first directory on the path to path, as named and as links lead there, that every user can
// write, or "". On another machine a file below such a directory may be another user's. That holds even if the
// directory is sticky, because any user can make the file first.
func exposedDir(path string) string {
	ways := []string{path}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		ways = append(ways, real)
	}
	for _, way := range ways {
		for dir := filepath.Dir(way); ; dir = filepath.Dir(dir) {
			if st, err := os.Stat(dir); err == nil && st.Mode().Perm()&0o002 != 0 {
				return dir
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return ""
}
