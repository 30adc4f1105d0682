package suite

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/bench/realm"
)

func TestJobsOfRealm(t *testing.T) {
	for _, c := range []struct {
		n    int
		only []string
		want []string
	}{
		{2, []string{"create", "hop"}, []string{
			"golci run -n 1 -env GOLCI_WORKERS=1 golci bench realm -only create -duration 1s -json",
			"golci run -n 2 golci bench realm -only hop -duration 1s -json",
			"golci run -n 2 -env GOLCI_WORKERS=2 golci bench realm -only hop -duration 1s -json",
		}},
		{3, []string{"event-flood"}, []string{"golci run -n 3 golci bench realm -only event-flood -duration 1s -json"}},
		{1, []string{"events", "hop"}, []string{
			"golci run -n 1 -env GOLCI_WORKERS=1 golci bench realm -only create,chain,merge,fan-in,fan-out -duration 1s -json",
		}},
	} {
		r := &runner{Config: Config{Self: "golci", N: c.n}}
		s, err := specs[slices.IndexFunc(specs, func(s spec) bool { return s.name == realm.Name })].with(
			Config{N: c.n, Only: c.only, Duration: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		jobs, err := r.realmJobs(s)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, j := range jobs {
			if len(j.names) > 0 {
				got = append(got, strings.Join(r.realmArgs(s, j), " "))
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("-n %d -only %q: %q, want %q", c.n, c.only, got, c.want)
		}
	}
}

func TestOnlyIsForRealm(t *testing.T) {
	for _, c := range []struct{ name, only string }{{"latency", "hop"}, {"realm", "speed"}} {
		conf, out := config(t, c.name)
		conf.Only = []string{c.only}
		if err := Run(t.Context(), conf); !errors.Is(err, ErrUsage) || out.Len() != 0 {
			t.Errorf("%v: error %v, output %q", c, err, out)
		}
	}
}
