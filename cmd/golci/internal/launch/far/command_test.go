package far

import (
	"reflect"
	"slices"
	"testing"

	"github.com/golci/golci/internal/job/boot"
)

func programs(text string, n int) boot.Command { return boot.Command{Argv: []string{text, "x"}, N: n} }

// TestCommandsOf: each machine gets the commands of its own ranks.
func TestCommandsOf(t *testing.T) {
	all := []boot.Command{programs("a", 2), programs("b", 3), programs("c", 1)}
	for _, c := range []struct {
		first, count int
		want         []boot.Command
	}{
		{0, 6, all},
		{0, 1, []boot.Command{programs("a", 1)}},
		{1, 2, []boot.Command{programs("a", 1), programs("b", 1)}},
		{2, 3, []boot.Command{programs("b", 3)}},
		{3, 1, []boot.Command{programs("b", 1)}},
		{4, 2, []boot.Command{programs("b", 1), programs("c", 1)}},
	} {
		if got := commandsOf(all, c.first, c.count); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%d ranks from %d on: %+v", c.count, c.first, got)
		}
	}
}

// TestTasked: a program is copied once, and each of its commands names the copy.
func TestTasked(t *testing.T) {
	cmds := []boot.Command{programs("/x/b", 1), programs("/y/a", 1), programs("/x/b", 2), programs("/z/b", 1)}
	copies := copiedPrograms(cmds, map[string]bool{"/x/b": true, "/z/b": true})
	if !slices.Equal(copies, []string{"/x/b", "/z/b"}) {
		t.Errorf("copied are %q", copies)
	}
	got := taskCommands(cmds, copies)
	for i, want := range []command{
		{boot.Command{Argv: []string{"", "x"}, N: 1}, 1, "b"},
		{boot.Command{Argv: []string{"/y/a", "x"}, N: 1}, 0, ""},
		{boot.Command{Argv: []string{"", "x"}, N: 2}, 1, "b"},
		{boot.Command{Argv: []string{"", "x"}, N: 1}, 2, "b"},
	} {
		if !reflect.DeepEqual(got[i], want) {
			t.Errorf("command %d is %+v, want %+v", i, got[i], want)
		}
	}
	if cmds[0].Argv[0] != "/x/b" {
		t.Error("the job's own commands have changed")
	}
}

// TestTaskCount: a task whose numbers do not fit has no ranks.
func TestTaskCount(t *testing.T) {
	ranks := func(n ...int) (out []command) {
		for _, n := range n {
			out = append(out, command{Command: programs("a", n)})
		}
		return out
	}
	for want, tasks := range map[int][]task{
		3: {{First: 1, Size: 4, Commands: ranks(1, 2)}},
		0: {
			{},
			{Size: 2},
			{First: 2, Size: 4, Commands: ranks(1, 2)},
			{Size: 4, Commands: ranks(4, 0)},
			{First: -1, Size: 4, Commands: ranks(1)},
			{Size: 1 << 20, Commands: ranks(1)},
			{Size: 4, Commands: ranks(4, -1)},
			{Size: 4, Commands: []command{{Command: boot.Command{N: 1}}}},
			{Size: 4, Commands: ranks(1<<62, 1<<62, 1<<62)},
		},
	} {
		for _, task := range tasks {
			if got := task.rankCount(); got != want {
				t.Errorf("%+v has %d ranks, want %d", task, got, want)
			}
		}
	}
}
