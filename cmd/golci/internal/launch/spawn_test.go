//go:build unix

package launch

import (
	"bytes"
	"encoding/gob"
	"math"
	"strings"
	"testing"

	"github.com/golci/golci/internal/job/boot"
)

// TestSpawnTooMany: a wish for more processes than any memory can hold is refused by its sum alone.
func TestSpawnTooMany(t *testing.T) {
	w := newWaiting(t)
	defer w.end(0, 1, 2)
	for name, counts := range map[string][]int{
		"INT_MAX": {math.MaxInt32}, "several": {1, math.MaxInt32, math.MaxInt32}, "overflow": {math.MaxInt, math.MaxInt, 3},
	} {
		var r boot.SpawnRequest
		for _, n := range counts {
			r.Commands = append(r.Commands, boot.Command{Argv: []string{"/bin/sh", "\xff"}, N: n})
		}
		var text bytes.Buffer
		if err := gob.NewEncoder(&text).Encode(r); err != nil {
			t.Fatal(err)
		}
		bad, err := w.job.startWorld(spawning{0, text.String()})
		if err == nil || bad != -1 || !strings.Contains(err.Error(), "process(es) wanted, and the job of 3 has room for 0 more") {
			t.Errorf("%s: %d, %v", name, bad, err)
		}
	}
}
