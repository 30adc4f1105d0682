package jobtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/mpi"
)

// spawnRole begins the roles of ranks that spawn others, or have been spawned.
const spawnRole = "spawn-"

var spawnRoles = map[string]func(p *mpi.Proc) error{
	"spawn-talk":    spawnTalk,
	"spawn-child":   spawnChild,
	"spawn-none":    spawnNone,
	"spawn-twice":   spawnTwice,
	"spawn-death":   spawnDeath,
	"spawn-dies":    func(*mpi.Proc) error { os.Exit(9); return nil },
	"spawn-exit":    spawnExit,
	"spawn-exits":   func(p *mpi.Proc) error { return p.Exit(17) },
	"spawn-stays":   func(p *mpi.Proc) error { return p.World().Barrier() },
	"spawn-lacks":   spawnLacks,
	"spawn-leaf":    spawnLeaf,
	"spawn-ports":   spawnPorts,
	"spawn-caller":  spawnCaller,
	"spawn-several": spawnSeveral,
}

// spawnMain is the program of such a rank. "spawn-mute" and "spawn-early" do not join their job.
func spawnMain(role string) int {
	switch role {
	case "spawn-mute":
		return 0
	case "spawn-early":
		return 2
	}
	p, err := mpi.Init()
	if err == nil {
		err = spawnRoles[role](p)
	}
	if err == nil {
		err = p.Finalize()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 3
	}
	return 0
}

// myself is n processes of this program that play a role.
func myself(n int, role string, args ...string) mpi.Command {
	return mpi.Command{Path: os.Args[0], Args: args, N: n, Env: []string{roleVar + "=" + role}}
}

const spawnWords = 1 << 17 // enough for a message that is asked for first

// spawnTalk spawns three ranks, talks to them, merges with them, and lets them go.
func spawnTalk(p *mpi.Proc) error {
	w := p.World()
	if p.Parent() != nil {
		return errors.New("a rank of the launcher has a parent")
	}
	d, err := w.Spawn(w.Size()-1, myself(3, "spawn-child"))
	if err != nil {
		return err
	}
	if n, err := d.RemoteSize(); n != 3 || err != nil || d.Size() != w.Size() {
		return fmt.Errorf("the groups have %d and %d ranks, %v", d.Size(), n, err)
	}
	big := make([]int64, spawnWords)
	for r := range 3 {
		for _, part := range [][]int64{big[:1], big} { // a short one, and one that is asked for first
			st, err := mpi.Recv(d, part, mpi.AnySource, 10+r)
			if err != nil || st.Source != r || part[0] != int64(r+1) || part[len(part)-1] != int64(r+1) {
				return fmt.Errorf("from spawned rank %d: %v, %v, %v", r, part[0], st, err)
			}
		}
		if err := mpi.Send(d, []int64{int64(w.Rank())}, r, 1); err != nil {
			return err
		}
	}
	return spawnMerge(d, false)
}

// spawnMerge sums the ranks of both groups in one communicator, makes a window there, and disconnects.
func spawnMerge(d *mpi.Comm, high bool) error {
	m, err := d.Merge(high)
	if err != nil {
		return err
	}
	sum := []int64{0}
	if err := mpi.Allreduce(m, []int64{int64(m.Rank())}, sum, mpi.Sum); err != nil {
		return err
	}
	if n := int64(m.Size()); sum[0] != n*(n-1)/2 {
		return fmt.Errorf("the sum of %d ranks is %d", n, sum[0])
	}
	if high == (m.Rank() < m.Size()-3) {
		return fmt.Errorf("rank %d of %d, high: %t", m.Rank(), m.Size(), high)
	}
	if err := m.Disconnect(); err != nil {
		return err
	}
	return d.Disconnect()
}

func spawnChild(p *mpi.Proc) error {
	d, w := p.Parent(), p.World()
	if d == nil || w.Size() != 3 || d.Rank() != w.Rank() {
		return fmt.Errorf("parent %v, rank %d of %d", d, w.Rank(), w.Size())
	}
	n, err := d.RemoteSize()
	if err != nil {
		return err
	}
	big := make([]int64, spawnWords)
	big[0], big[len(big)-1] = int64(w.Rank()+1), int64(w.Rank()+1)
	for r := range n {
		if err := errors.Join(mpi.Send(d, big[:1], r, 10+w.Rank()), mpi.Send(d, big, r, 10+w.Rank())); err != nil {
			return err
		}
	}
	for r := range n {
		if st, err := mpi.Recv(d, big[:1], r, 1); err != nil || st.Source != r || big[0] != int64(r) {
			return fmt.Errorf("from rank %d: %d, %v, %v", r, big[0], st, err)
		}
	}
	if err := spawnMerge(d, true); err != nil {
		return err
	}
	if p.Parent() != nil {
		return errors.New("there is a parent after Disconnect")
	}
	return nil
}

func needRings(t *testing.T) {
	if c := os.Getenv(settings.Conduit.Env()); c != "" && c != "auto" && c != "shm" {
		t.Skipf("skipped: ranks that start later need shared memory, and %s=%s", settings.Conduit.Env(), c)
	}
}

func TestSpawn(t *testing.T) {
	needRings(t)
	for _, n := range []int{1, 2, 4} {
		t.Run(fmt.Sprint("ranks=", n), func(t *testing.T) {
			golci(t, ranks(n, "spawn-talk", "-universe", fmt.Sprint(n+3))...).succeed()
		})
	}
}

// spawnNone is refused in all ways, and the job goes on.
func spawnNone(p *mpi.Proc) error {
	w := p.World()
	for _, x := range []struct {
		cmd  mpi.Command
		want string
	}{
		{mpi.Command{Path: "./no-such-program", N: 1}, "no such file"},
		{mpi.Command{Path: os.Args[0], N: 1, Dir: "/no/such/place"}, "working directory"},
		{myself(p.Universe(), "spawn-child"), "room for"},
		{myself(1, "spawn-mute"), "did not join the job"},
		{myself(1, "spawn-early"), "code 2"},
	} {
		_, err := w.Spawn(0, x.cmd)
		if !errors.Is(err, mpi.ErrSpawn) || mpi.Class(err) != mpi.ClassSpawn || w.Rank() == 0 &&
			!strings.Contains(err.Error(), x.want) {
			return fmt.Errorf("%v: %w, want %q", x.cmd, err, x.want)
		}
	}
	if _, err := w.Spawn(w.Size(), myself(1, "spawn-child")); !errors.Is(err, mpi.ErrRoot) {
		return fmt.Errorf("a root outside: %w", err)
	}
	if _, err := w.Spawn(0, myself(-1, "spawn-child")); !errors.Is(err, mpi.ErrArgument) {
		return fmt.Errorf("-1 processes: %w", err)
	}
	return spawnTalk(p) // there is room left
}

func TestSpawnRefused(t *testing.T) {
	needRings(t)
	golci(t, ranks(2, "spawn-none", "-universe", "9")...).succeed()
}

// TestSpawnElsewhere has a job without room, and none at all.
func TestSpawnElsewhere(t *testing.T) {
	for name, j := range map[string]*job{
		"no room":     golci(t, ranks(1, "spawn-lacks")...),
		"no launcher": command(t, "env", roleVar+"=spawn-lacks", os.Args[0]),
	} {
		t.Run(name, func(t *testing.T) {
			j.t = t
			j.succeed()
		})
	}
}

func spawnLacks(p *mpi.Proc) error {
	_, err := p.World().Spawn(0, myself(1, "spawn-child"))
	if !errors.Is(err, mpi.ErrSpawn) || !strings.Contains(err.Error(), "-universe") {
		return fmt.Errorf("without room: %w", err)
	}
	return nil
}

// spawnTwice has spawned ranks spawn others.
func spawnTwice(p *mpi.Proc) error {
	role := "spawn-twice"
	if p.Parent() != nil {
		role = "spawn-leaf"
	}
	d, err := p.Self().Spawn(0, myself(1, role))
	if err != nil {
		return err
	}
	got := []int{0}
	if _, err := mpi.Recv(d, got, 0, 0); err != nil {
		return err
	}
	if parent := p.Parent(); parent != nil {
		got[0]++
		return mpi.Send(parent, got, 0, 0)
	}
	if got[0] != 42 {
		return fmt.Errorf("got %d", got[0])
	}
	return nil
}

func spawnLeaf(p *mpi.Proc) error { return mpi.Send(p.Parent(), []int{41}, 0, 0) }

func TestSpawnTwice(t *testing.T) {
	needRings(t)
	golci(t, ranks(1, "spawn-twice", "-universe", "3")...).succeed()
}

// spawnDeath waits for spawned ranks of which one dies.
func spawnDeath(p *mpi.Proc) error {
	d, err := p.World().Spawn(0, myself(1, "spawn-dies"), myself(1, "spawn-stays"))
	if err != nil {
		return err
	}
	_, err = mpi.Recv(d, []int{0}, 1, 0)
	return err
}

// spawnExit waits for spawned ranks that end the job.
func spawnExit(p *mpi.Proc) error {
	d, err := p.World().Spawn(0, myself(2, "spawn-exits"))
	if err != nil {
		return err
	}
	_, err = mpi.Recv(d, []int{0}, 1, 0)
	return err
}

// TestSpawnEnds ends jobs by what spawned ranks do. No process stays.
func TestSpawnEnds(t *testing.T) {
	needRings(t)
	for role, code := range map[string]int{"spawn-death": 9, "spawn-exit": 17} {
		t.Run(role, func(t *testing.T) {
			j := golci(t, ranks(2, role, "-universe", "4", "-env", "GOLCI_EXITTIMEOUT=60s")...).start()
			if got := j.wait(); got != code {
				t.Errorf("exit code %d, want %d\n%s", got, code, j.all())
			}
			j.wantNobody()
		})
	}
}

// wantNobody checks that no process has the job's directory for temporary files.
func (j *job) wantNobody() {
	j.t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		j.t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err == nil && slices.Contains(strings.Split(string(b), "\x00"), "TMPDIR="+j.tmp) {
			j.t.Errorf("%s is still there\n%s", f, j.all())
		}
	}
}

// spawnPorts serves two callers, which have no communicator in common with it but by way of others.
func spawnPorts(p *mpi.Proc) error {
	port, err := p.OpenPort()
	if err != nil {
		return err
	}
	if err := p.PublishName("jobtest", port); err != nil {
		return err
	}
	if err := p.PublishName("jobtest", port); !errors.Is(err, mpi.ErrService) {
		return fmt.Errorf("published twice: %w", err)
	}
	for range 2 {
		if _, err := p.World().Spawn(0, myself(2, "spawn-caller")); err != nil {
			return err
		}
	}
	for range 2 {
		d, err := p.World().Accept(port, 0)
		if err != nil {
			return err
		}
		got := []int{0}
		if _, err := mpi.Recv(d, got, 1, 5); err != nil || got[0] != 77 {
			return fmt.Errorf("got %d: %w", got[0], err)
		}
		if err := d.Disconnect(); err != nil {
			return err
		}
	}
	if err := p.UnpublishName("jobtest"); err != nil {
		return err
	}
	if _, err := p.LookupName("jobtest"); !errors.Is(err, mpi.ErrName) {
		return fmt.Errorf("a name that is no more: %w", err)
	}
	if _, err := p.Self().Connect(port, 0); !errors.Is(err, mpi.ErrPort) || !strings.Contains(err.Error(), "nobody") {
		return fmt.Errorf("a port where nobody accepts: %w", err)
	}
	if err := p.ClosePort(port); err != nil {
		return err
	}
	if _, err := p.Self().Connect(port, 0); !errors.Is(err, mpi.ErrPort) {
		return fmt.Errorf("a port that is no more: %w", err)
	}
	return nil
}

func spawnCaller(p *mpi.Proc) error {
	port := ""
	if p.World().Rank() == 1 {
		var err error
		if port, err = p.LookupName("jobtest"); err != nil {
			return err
		}
	}
	d, err := p.World().Connect(port, 1)
	if err != nil {
		return err
	}
	if p.World().Rank() == 1 {
		if err := mpi.Send(d, []int{77}, 0, 5); err != nil {
			return err
		}
	}
	return d.Disconnect()
}

func TestSpawnPorts(t *testing.T) {
	needRings(t)
	golci(t, ranks(1, "spawn-ports", "-universe", "5", "-env", settings.InitTimeout.Env()+"=20s")...).succeed()
}

// spawnSeveral spawns two commands at once.
func spawnSeveral(p *mpi.Proc) error {
	if d := p.Parent(); d != nil {
		app, err := p.AppNum()
		if err != nil {
			return err
		}
		dir, err := os.Getwd()
		if err != nil {
			return err
		}
		return mpi.Send(d, []byte(fmt.Sprint(app, os.Args[1:], dir)), 0, 3)
	}
	one, two := myself(1, "spawn-several", "a"), myself(2, "spawn-several", "b", "c d")
	two.Dir = "/"
	d, err := p.World().Spawn(0, one, two)
	if err != nil {
		return err
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	for r, want := range []string{
		fmt.Sprint(0, []string{"a"}, here), fmt.Sprint(1, []string{"b", "c d"}, "/"),
		fmt.Sprint(1, []string{"b", "c d"}, "/"),
	} {
		b := make([]byte, 4096)
		st, err := mpi.Recv(d, b, r, 3)
		if err != nil {
			return err
		}
		if n := st.Bytes(); string(b[:n]) != want {
			return fmt.Errorf("rank %d says %q, want %q", r, b[:n], want)
		}
	}
	return nil
}

func TestSpawnSeveral(t *testing.T) {
	needRings(t)
	golci(t, ranks(1, "spawn-several", "-universe", "8")...).succeed()
}
