package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// lock waits until no other run uses what name stands for.
func lock(name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if err != unix.EINTR {
			break
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock of %s: %w", name, err)
	}
	return func() { _ = f.Close() }, nil
}

func askToEnd(p *os.Process) error { return p.Signal(unix.SIGTERM) }

// family are the processes of a job: those with its mark in their environment. Launchers put ranks into sessions of
// their own, and may die before them, so that neither groups nor parents tell. One goroutine uses it at a time.
type family struct {
	mark  []byte
	since uint64        // when this process started: members are younger
	ours  map[proc]bool // those that were found to be members
}

// proc is a process; the start, in ticks of the kernel's clock, tells it from a later one with the same number.
type proc struct {
	pid   int
	start uint64
}

func newFamily(mark string) *family {
	since, _, _ := stat(os.Getpid()) // 0 if it is not known: then all are looked at
	return &family{mark: []byte(mark), since: since, ours: make(map[proc]bool)}
}

// each calls f with the members that are alive, and the pages that they have in memory.
func (f *family) each(do func(pid int, pages int64)) {
	dir, err := os.Open("/proc")
	if err != nil {
		return
	}
	names, _ := dir.Readdirnames(-1) // what was read until an error will do
	_ = dir.Close()
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		start, pages, ok := stat(pid)
		if ok && start >= f.since && f.has(proc{pid, start}) {
			do(pid, pages)
		}
	}
}

// has tells whether p carries the mark. A process between fork and exec still has its parent's environment, so that a
// no is not kept.
func (f *family) has(p proc) bool {
	if f.ours[p] {
		return true
	}
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.pid))
	if err != nil {
		return false
	}
	for e := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.Equal(e, f.mark) {
			f.ours[p] = true
			return true
		}
	}
	return false
}

// stat reads when the process started and how many pages it has in memory; zombies are gone.
func stat(pid int) (start uint64, pages int64, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, false
	}
	// The name in parentheses may hold anything; the state follows it.
	_, rest, ok := strings.Cut(string(text[bytes.LastIndexByte(text, ')')+1:]), " ")
	words := strings.Fields(rest)
	const state, started, resident = 0, 19, 21
	if !ok || len(words) <= resident || words[state] == "Z" || words[state] == "X" {
		return 0, 0, false
	}
	start, err = strconv.ParseUint(words[started], 10, 64)
	pages, err2 := strconv.ParseInt(words[resident], 10, 64)
	return start, pages, err == nil && err2 == nil
}

// memory is the sum of what the members have in memory, in bytes. Shared pages count once for each.
func (f *family) memory() (sum int64) {
	f.each(func(_ int, pages int64) { sum += pages * int64(os.Getpagesize()) })
	return sum
}

// kill ends all members, also those that others start meanwhile. It gives up on one that the kernel does not let go.
func (f *family) kill() {
	const tries, pause = 2000, 5 * time.Millisecond
	for range tries {
		left := 0
		f.each(func(pid int, _ int64) {
			left++
			_ = unix.Kill(pid, unix.SIGKILL) // it may have ended by itself
		})
		if left == 0 {
			return
		}
		time.Sleep(pause)
	}
}
