package far

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/golci/golci/internal/job/boot"
)

// TestTask: a task of any size arrives byte for byte, in frames that are not too long.
func TestTask(t *testing.T) {
	for _, size := range []int{0, 1000, maxPayload, 5 << 20} {
		sent := task{
			Size: 2, Env: []string{"A=\xff"}, Dir: "/r\xe9",
			Commands: []command{{
				Command: boot.Command{N: 1, Argv: []string{"/d\xe9j/prog", "\xff\xfe", strings.Repeat("x\xff", size/2)}},
				Copy:    1, Base: "\xe9",
			}},
		}
		var parts taskParts
		var got *task
		err := sendTask(&sent, func(last int, piece []byte) {
			if len(piece) > maxPayload || got != nil {
				t.Fatalf("a piece of %d bytes, after the end: %v", len(piece), got != nil)
			}
			var err error
			if got, err = parts.addPiece(last == 1, piece); err != nil {
				t.Fatal(err)
			}
		})
		if err != nil || !reflect.DeepEqual(got, &sent) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	if err := sendTask(&task{Dir: strings.Repeat("x", maxTask)}, nil); err == nil {
		t.Error("a task without end was sent")
	}
	var parts taskParts
	if _, err := parts.addPiece(true, []byte("{}")); !errors.Is(err, errFrame) {
		t.Errorf("no task: %v", err)
	}
}
