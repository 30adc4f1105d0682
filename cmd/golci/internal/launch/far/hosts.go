package far

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/golci/golci/cmd/golci/internal/launch"
)

// Host is a machine to run ranks on.
type Host struct {
	Name  string // as the remote shell takes it; localhost is this machine, without a remote shell
	Slots int    // ranks it takes; 0: as many as it has cores
	Here  bool   // it is this machine, under the name that others have for it: no remote shell either
}

// MaxHosts bounds a job: the head keeps a process, a connection and four goroutines for each machine.
const MaxHosts = 1024

// errHosts is wrapped by the errors of a wrong list of machines.
var errHosts = errors.New("list of hosts")

// ParseHosts reads "a:4,b,[::1]:2": machines and their slots. A machine named twice has the slots of both.
func ParseHosts(list string) ([]Host, error) {
	var hosts []Host
	for word := range strings.SplitSeq(list, ",") {
		h, err := parseHost(strings.TrimSpace(word))
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, h)
	}
	return Merge(hosts)
}

// ReadHosts reads a file of machines: one a line, as "a", "a:4" or "a slots=4"; what follows a '#' is a comment.
func ReadHosts(r io.Reader) ([]Host, error) {
	var hosts []Host
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		h, err := parseHost(words[0])
		for _, w := range words[1:] {
			if err == nil {
				h.Slots, err = parseSlots(strings.CutPrefix(w, "slots="))
			}
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		hosts = append(hosts, h)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return Merge(hosts)
}

// parseHost reads one machine. Colons belong to the name when there are several and no brackets: an IPv6 address.
func parseHost(word string) (h Host, err error) {
	name, slots, counted := word, "", false
	if rest, ok := strings.CutPrefix(word, "["); ok {
		if name, slots, ok = strings.Cut(rest, "]"); !ok || slots != "" && slots[0] != ':' {
			return h, fmt.Errorf("%w: %q", errHosts, word)
		}
		slots, counted = strings.CutPrefix(slots, ":")
	} else if strings.Count(word, ":") == 1 {
		name, slots, counted = strings.Cut(word, ":")
	}
	h.Name = name
	if counted {
		h.Slots, err = parseSlots(slots, true)
	}
	if wrong := checkName(name); wrong != nil {
		err = wrong
	}
	return h, err
}

func checkName(name string) error {
	// A name that begins with a dash would be an option of the remote shell.
	if name == "" || name[0] == '-' || strings.ContainsFunc(name, isOdd) {
		return fmt.Errorf("%w: %q is no name of a machine", errHosts, name)
	}
	return nil
}

// nameLetters are those of names, addresses with zones, and user@name. Remote shells put the name into commands of
// their configuration, where other letters may mean something.
const nameLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:%@/+-"

func isOdd(r rune) bool { return !strings.ContainsRune(nameLetters, r) }

func parseSlots(text string, ok bool) (int, error) {
	n, err := strconv.Atoi(text)
	if !ok || err != nil || n < 1 || n > launch.MaxRanks {
		return 0, fmt.Errorf("%w: %q: want slots, from 1 to %d", errHosts, text, launch.MaxRanks)
	}
	return n, nil
}

// Merge checks the names of hosts, and has each machine once: one that is named twice has the slots of both. The error
// wraps errHosts.
func Merge(hosts []Host) ([]Host, error) {
	var out []Host
	for _, h := range hosts {
		if err := checkName(h.Name); err != nil {
			return nil, err
		}
		i := slices.IndexFunc(out, func(o Host) bool { return o.Name == h.Name })
		switch {
		case i < 0:
			out = append(out, h)
		case h.Slots == 0 || out[i].Slots == 0:
			return nil, fmt.Errorf("%w: %s stands there twice, once without a number of slots", errHosts, h.Name)
		default:
			out[i].Slots += h.Slots
		}
	}
	if len(out) == 0 || len(out) > MaxHosts {
		return nil, fmt.Errorf("%w: %d machines, want 1 to %d", errHosts, len(out), MaxHosts)
	}
	return out, nil
}

// neededHosts drops the machines that n ranks surely leave empty; n of 0 means all slots.
func neededHosts(hosts []Host, n int) []Host {
	if n == 0 {
		return hosts
	}
	sum := 0
	for i, h := range hosts {
		if h.Slots == 0 {
			return hosts
		}
		if sum += h.Slots; sum >= n {
			return hosts[:i+1]
		}
	}
	return hosts
}

// dealRanks assigns n ranks to machines with these slots, filling one after the other; n of 0 means all slots.
func dealRanks(slots []int, n int) ([]int, error) {
	sum := 0
	for _, s := range slots {
		sum += s
	}
	if n == 0 {
		n = sum
	}
	if n > sum {
		return nil, fmt.Errorf("%d ranks, but the hosts have %d slots", n, sum)
	}
	if n > launch.MaxRanks {
		return nil, fmt.Errorf("%d ranks, but a job has at most %d", n, launch.MaxRanks)
	}
	counts := make([]int, len(slots))
	for i, s := range slots {
		counts[i] = min(s, n)
		n -= counts[i]
	}
	return counts, nil
}

// isLocal says that a machine is this one, which needs no remote shell.
func (h Host) isLocal() bool { return h.Here || h.Name == "localhost" }

// SSH is the usual remote shell. It asks nothing, and forwards nothing.
var SSH = []string{"ssh", "-a", "-x", "-o", "BatchMode=yes", "-o", "ClearAllForwardings=yes"}

// HostMark stands for the machine's name in the words of a remote shell.
const HostMark = "{}"

// shellFor is the command that starts the remote shell for a machine. Its name replaces each mark, or follows the words
// if there is none.
func shellFor(shell []string, host string) (argv []string) {
	marked := false
	for _, word := range shell {
		marked = marked || strings.Contains(word, HostMark)
		argv = append(argv, strings.ReplaceAll(word, HostMark, host))
	}
	if !marked {
		argv = append(argv, host)
	}
	return append(argv, remoteCommand)
}
