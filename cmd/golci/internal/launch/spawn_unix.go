//go:build unix

package launch

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/job/boot/pmi"
	"github.com/golci/golci/internal/job/boot/serve"
)

// world is the ranks that have started together, and their PMI server, in which they count from 0.
type world struct {
	first, n   int
	nodes      []int // ranks of each machine
	parent     string
	apps       []int         // command of each rank
	srv        *serve.Server // safe for concurrent use
	asker      int           // rank that has had it spawned, or -1
	localRanks []*LocalRanks
}

// spawns are the worlds that ranks want. They start one after the other: a rank that starts takes one that has started
// before and does not answer for one that has ended. Only the goroutine of Run touches them.
type spawns struct {
	late, room int        // ranks that start with the job, and the most ranks
	next       int        // first number that has not been given
	queue      []spawning // that wait for their turn
	starting   *world     // whose ranks cannot be reached yet; nil: none
}

type spawning struct {
	asker int
	text  string
}

// starter is a team that can start ranks while the job runs. It starts them on this thread. After an error some may
// run.
type starter interface {
	StartMore(first int, cmds []boot.Command) ([]*LocalRanks, error)
}

func (s *spawns) initSpawns(late, room int) { s.late, s.next, s.room = late, late, room }

// isStarting tells a rank of a world that is starting.
func (s *spawns) isStarting(rank int) bool {
	w := s.starting
	return w != nil && rank >= w.first && rank < w.first+w.n
}

// worldOf is the world of a rank.
func (j *Job) worldOf(rank int) *world {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, w := range j.worlds {
		if rank < w.first+w.n {
			return w
		}
	}
	return j.worlds[len(j.worlds)-1]
}

// rankName returns "rank 3" for messages, with the name of its place if it has one. For a spawned rank it adds the rank
// that has spawned it; that text ends in a comma.
func (j *Job) rankName(rank int) string {
	if rank < j.spawns.late {
		return j.places.Name(rank)
	}
	w := j.worldOf(rank)
	return fmt.Sprintf("rank %d, which is rank %d of the processes that rank %d has spawned,", rank, rank-w.first, w.asker)
}

// addWorld makes the server of w.
func (j *Job) addWorld(w *world) (*world, error) {
	preset := map[string]string{pmi.KeySecret: hex.EncodeToString(j.key), pmi.KeyMapping: pmi.FormatMapping(w.nodes)}
	s := &j.spawns
	name := "golci-" + j.ID()
	if s.room > s.late {
		preset[pmi.KeyRoom] = fmt.Sprintf("%d:%d:%d", w.first, s.room, s.late)
	}
	if w.first > 0 {
		name += fmt.Sprint("-", w.first)
		preset[pmi.KeyParent] = w.parent
	}
	var err error
	w.srv, err = serve.New(pmi.Config{
		Size: w.n, KVSName: name, Preset: preset, Names: &j.names, Room: s.room, Spawns: s.room > s.late, AppNum: w.apps,
		// Not serve.Hooks.Fail, which may come after the end of a rank that was told.
		Failing: func(rank, code int, text string, aborted bool) {
			kind := failBarrier
			if aborted {
				kind = failAbort
			}
			j.reportFailure(rank, failure{kind, w.first + rank, code, text})
		},
		Follows: func(rank, of int) { j.fails.addFailure(failure{failFollows, w.first + rank, of, ""}) },
	}, serve.Hooks{
		Leave: func(rank, code int, text string) {
			j.reportFailure(w.first+rank, failure{failAgreed, w.first + rank, code, text})
		},
		Report: func(rank int) {
			j.runLater(func() { j.obeyOrders(j.policy.rankReports(w.first + rank)) })
		},
		Spawn: func(rank int, text string) {
			j.runLater(func() { j.spawnWorld(spawning{w.first + rank, text}) })
		},
		Ready: func() { j.runLater(func() { j.worldReached(w) }) },
		EOF:   func(rank int) { close(j.drained[w.first+rank]) },
	})
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.worlds = append(j.worlds, w)
	return w, nil
}

// runLater makes the goroutine of Run call f, unless the job is over.
func (j *Job) runLater(f func()) {
	select {
	case j.calls <- f:
	case <-j.over:
	}
}

// spawnWorld takes a rank's wish for a world.
func (j *Job) spawnWorld(s spawning) {
	j.spawns.queue = append(j.spawns.queue, s)
	j.spawnNext()
}

// spawnNext starts the next world that is wanted, if none is starting.
func (j *Job) spawnNext() {
	s := &j.spawns
	for s.starting == nil && len(s.queue) > 0 {
		next := s.queue[0]
		s.queue = s.queue[1:]
		if bad, err := j.startWorld(next); err != nil {
			j.answerSpawn(next.asker, boot.SpawnAnswer{Bad: bad, Error: err.Error()})
		}
	}
}

// startWorld starts the processes of a world. bad is the command that could not be, or -1.
func (j *Job) startWorld(from spawning) (bad int, err error) {
	r, err := boot.ParseSpawn([]byte(from.text))
	if err != nil {
		return -1, err
	}
	s := &j.spawns
	w := &world{first: s.next, asker: from.asker, parent: base64.RawURLEncoding.EncodeToString(r.Parent)}
	for i := range r.Commands {
		if err := findProgram(&r.Commands[i]); err != nil {
			return i, err
		}
		w.n += min(r.Commands[i].N, math.MaxInt-w.n)
	}
	switch {
	case w.n == 0:
		return -1, errors.New("no process wanted")
	case w.n > s.room-s.next:
		return -1, fmt.Errorf("%d process(es) wanted, and the job of %d has room for %d more; golci run -universe makes more",
			w.n, s.room, s.room-s.next)
	case j.policy.phase != running:
		return -1, errors.New("the job is ending")
	}
	w.nodes = []int{w.n}
	w.apps = appsOf(r.Commands)
	s.next += w.n
	if _, err := j.addWorld(w); err != nil {
		return -1, err
	}
	j.policy.world = func(rank int) (first, end int) {
		w := j.worldOf(rank)
		return w.first, w.first + w.n
	}
	w.localRanks, err = j.team.(starter).StartMore(w.first, r.Commands)
	for _, c := range w.localRanks {
		j.policy.ranksStarted(len(c.ranks))
	}
	s.starting = w
	if err != nil {
		j.giveUp(w)
		s.starting = nil
		return len(w.localRanks) - 1, err
	}
	return -1, nil
}

// appsOf is the number of its command for each rank.
func appsOf(cmds []boot.Command) (apps []int) {
	for i, c := range cmds {
		apps = append(apps, slices.Repeat([]int{i}, c.N)...)
	}
	return apps
}

// giveUp ends what has started of a world.
func (j *Job) giveUp(w *world) {
	j.policy.forgiveRanks(w.first, w.first+w.n)
	for _, c := range w.localRanks {
		c.Kill(syscall.SIGKILL)
	}
}

// worldReached takes the word that the ranks of w can be reached.
func (j *Job) worldReached(w *world) {
	if j.spawns.starting != w {
		return
	}
	j.spawns.starting = nil
	j.answerSpawn(w.asker, boot.SpawnAnswer{First: w.first, Bad: -1})
	j.spawnNext()
}

// spawnFailed ends the world that is starting, for the reason in text.
func (j *Job) spawnFailed(text string) {
	w := j.spawns.starting
	j.spawns.starting = nil
	j.giveUp(w)
	j.answerSpawn(w.asker, boot.SpawnAnswer{Bad: -1, Error: text})
	j.spawnNext()
}

// rankExited takes the end of a rank.
func (j *Job) rankExited(rank int, st Status) {
	if j.spawns.isStarting(rank) && j.policy.phase == running {
		_, text := judgeStatus(j.rankName(rank), st)
		if text == "" {
			text = j.rankName(rank) + " exited with code 0 and did not join the job"
		}
		j.spawnFailed(text)
	}
	j.obeyOrders(j.policy.rankExited(rank, st))
}

// answerSpawn tells a rank what has become of its wish: on a goroutine, as it may not read.
func (j *Job) answerSpawn(rank int, a boot.SpawnAnswer) {
	text, err := json.Marshal(a)
	if err != nil {
		text = nil // never: it has plain fields
	}
	w := j.worldOf(rank)
	j.wg.Go(func() { w.srv.Answer(rank-w.first, string(text)) })
}

// findProgram makes the program of a command a path, and checks that it can be started.
func findProgram(c *boot.Command) error {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return errNoProgram
	}
	if c.N < 0 {
		return fmt.Errorf("%d processes of %s", c.N, c.Argv[0])
	}
	if c.Dir != "" {
		if st, err := os.Stat(c.Dir); err != nil || !st.IsDir() {
			return fmt.Errorf("%s: the working directory %s is none", c.Argv[0], c.Dir)
		}
	}
	name := c.Argv[0]
	var tries []string
	switch {
	case filepath.IsAbs(name):
		tries = []string{name}
	case strings.Contains(name, "/"):
		tries = []string{filepath.Join(c.Dir, name)}
	}
	for _, dir := range append(c.Path, c.Dir) {
		if !strings.Contains(name, "/") && dir != "" {
			tries = append(tries, filepath.Join(dir, name))
		}
	}
	if !strings.Contains(name, "/") {
		tries = append(tries, name) // in PATH
	}
	var err error
	for _, path := range tries {
		var found string
		if found, err = exec.LookPath(path); err == nil {
			c.Argv[0] = found
			return nil
		}
	}
	return err
}
