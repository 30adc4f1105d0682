package settings

import (
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func parse(t *testing.T, kv ...string) (*Set, error) {
	t.Helper()
	env := map[string]string{}
	for i := 0; i < len(kv); i += 2 {
		env[kv[i]] = kv[i+1]
	}
	return Parse(func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	})
}

// TestDefaults: every default can be read, and every entry is documented and has a name of its own.
func TestDefaults(t *testing.T) {
	s, err := parse(t)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, i := range s.List() {
		if seen[i.Env] || !strings.HasPrefix(i.Env, "GOLCI_") || !strings.HasSuffix(i.Doc, ".") || i.Value != i.Default || i.Set {
			t.Errorf("%+v", i)
		}
		seen[i.Env] = true
	}
	if Workers.Get(s) != 0 || Spin.Get(s) != 50*time.Microsecond || Unexpected.Get(s) != 0 || Server.Get(s) != "auto" ||
		Debug.Get(s) {
		t.Error("defaults are not what the table says")
	}
}

func TestValues(t *testing.T) {
	s, err := parse(t, "GOLCI_WORKERS", "3", "GOLCI_SPIN", "2ms", "GOLCI_EAGER", "16K", "GOLCI_SERVER", "waiter",
		"GOLCI_DEBUG", "Yes", "GOLCI_LOAN", "", "OTHER", "x")
	if err != nil {
		t.Fatal(err)
	}
	if Workers.Get(s) != 3 || Spin.Get(s) != 2*time.Millisecond || Eager.Get(s) != 16<<10 || Server.Get(s) != "waiter" ||
		!Debug.Get(s) || Loan.Get(s) != 0 {
		t.Errorf("%+v", s.List())
	}
	for _, i := range s.List() {
		if want := i.Env == "GOLCI_LOAN"; i.Value != i.Default && !i.Set || want && i.Set {
			t.Errorf("%+v", i)
		}
	}
}

func TestErrors(t *testing.T) {
	for env, values := range map[string][]string{
		Workers.Env():     {"-1", "x", "99999999", "1.5"},
		Spin.Env():        {"10", "-1s", "soon"},
		InitTimeout.Env(): {"0s"},
		Server.Env():      {"Auto", "none"},
		Debug.Env():       {"2", "maybe"},
		Eager.Env():       {"-1", "64Q", "2M", "K", "9999999999999999999", "8192T"},
	} {
		for _, v := range values {
			_, err := parse(t, env, v)
			if err == nil || !strings.Contains(err.Error(), env+`="`+v+`"`) {
				t.Errorf("%s=%q: %v", env, v, err)
			}
		}
	}
	_, err := parse(t, "GOLCI_SPIN", "x", "GOLCI_LOAN", "y", "GOLCI_BIND", "z")
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("all errors at once: %v", err)
	}
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{
		"0": 0, "4096": 4096, "1k": 1024, "64KiB": 64 << 10, " 2 MiB ": 2 << 20, "3G": 3 << 30, "1TiB": 1 << 40, "7B": 7,
	} {
		if n, err := ParseSize(s); n != want || err != nil {
			t.Errorf("%q: %d, %v", s, n, err)
		}
	}
}

func FuzzParseSize(f *testing.F) {
	f.Add("64KiB")
	f.Add("9223372036854775807T")
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := ParseSize(s); err == nil && n < 0 {
			t.Fatalf("%q: %d", s, n)
		}
	})
}

// TestEnvironment: the table reads the process's own environment, whatever that is, without a panic.
func TestEnvironment(t *testing.T) {
	if s, err := Parse(os.LookupEnv); (s == nil) == (err == nil) {
		t.Errorf("%v, %v", s, err)
	}
}
