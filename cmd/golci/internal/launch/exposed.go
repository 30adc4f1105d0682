package launch

import (
	"os"
	"path/filepath"
)

// exposed returns the first directory on the way to path, as named and as links lead there, that every user can write; "" if
// there is none. What lies below such a directory may be another user's on another machine, even where the directory is
// sticky: whoever is first there makes the file.
func exposed(path string) string {
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
