package relay

import (
	"reflect"
	"testing"
	"time"

	"github.com/golci/golci/internal/transport/badnet"
)

// TestCommandPassesAllFaults: each flag of the command line that names a fault must get to it.
func TestCommandPassesAllFaults(t *testing.T) {
	c := Command{Listen: "127.0.0.1:0", To: "127.0.0.1:9"}
	flags := reflect.ValueOf(&c).Elem()
	var want badnet.Faults
	fields := reflect.ValueOf(&want).Elem()
	for i := range fields.NumField() {
		name := fields.Type().Field(i).Name
		flag := flags.FieldByName(name)
		if !flag.IsValid() {
			if name != "Queue" { // has no flag
				t.Errorf("no flag for %s", name)
			}
			continue
		}
		switch v := fields.Field(i).Addr().Interface().(type) {
		case *float64:
			*v = float64(i) / 100
		case *time.Duration:
			*v = time.Duration(i)
		case *uint64:
			*v = uint64(i)
		}
		flag.Set(fields.Field(i))
	}
	if cfg, err := c.config(); err != nil || cfg.Faults != want {
		t.Errorf("got %+v, want %+v, %v", cfg.Faults, want, err)
	}
}

// TestListensOnLoopback: a relay that is given a port only is not open to others.
func TestListensOnLoopback(t *testing.T) {
	for in, want := range map[string]string{":7": "127.0.0.1:7", "[::]:7": "[::]:7", "0.0.0.0:7": "0.0.0.0:7"} {
		if got, err := resolveAddress(in); err != nil || got.String() != want {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
}
