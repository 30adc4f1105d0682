// Package settingstest tests that settings reach the configurations that they are for.
package settingstest

import (
	"os"
	"testing"

	"github.com/golci/golci/internal/observe/settings"
)

// Wire tells how a setting reaches the package that it is for: set to Value, together with the settings of Also, Read
// gives Want; unset it gives something else.
type Wire[O any] struct {
	Value string
	Also  []string // pairs: variable, value
	Read  func(o O) any
	Want  any
}

// Parse reads the settings of the environment with pairs of a variable and its value laid over them.
func Parse(pairs ...string) *settings.Set {
	s, err := settings.Parse(func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return os.LookupEnv(name)
	})
	if err != nil {
		panic(err)
	}
	return s
}

// Check sets each setting of wires, which are named by their variables, by a pair given to read and by the environment.
func Check[O any](t *testing.T, wires map[string]Wire[O], read func(pairs ...string) O) {
	for _, i := range Parse().List() {
		t.Setenv(i.Env, "") // whatever the tests are run with
	}
	for env, w := range wires {
		t.Run(env, func(t *testing.T) {
			if w.Read == nil {
				t.Skipf("not a field of a configuration of this package: %v", w.Want)
			}
			if got := w.Read(read(w.Also...)); got == w.Want {
				t.Errorf("without the setting it is %v already", got)
			}
			if got := w.Read(read(append([]string{env, w.Value}, w.Also...)...)); got != w.Want {
				t.Errorf("set by an option to %s: %v, want %v", w.Value, got, w.Want)
			}
			t.Setenv(env, w.Value)
			if got := w.Read(read(w.Also...)); got != w.Want {
				t.Errorf("set by the environment to %s: %v, want %v", w.Value, got, w.Want)
			}
		})
	}
}
