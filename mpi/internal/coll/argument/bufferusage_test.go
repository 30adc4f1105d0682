package argument

import (
	"errors"
	"strings"
	"testing"

	"github.com/golci/golci/mpi/internal/sentinel"
)

// buffersUsed is what the standard says of buffers (chapter 6), for each kind. The columns are the root and the others,
// then between two groups the root, those beside it and the other group. The letters s and r stand for the send and the
// receive buffer, + for both, - for none. What is behind a slash is with MPI_IN_PLACE. Kinds without root have one
// column for one group and one for two. The one buffer of a broadcast counts as a receive buffer.
const buffersUsed = `
Barrier - -
Bcast r r r - r
Gather +/r s r - s
Gatherv +/r s r - s
Scatter +/s r s - r
Scatterv +/s r s - r
Allgather +/r +
Allgatherv +/r +
Alltoall +/r +
Alltoallv +/r +
Alltoallw +/r +
Reduce +/r s r - s
Allreduce +/r +
Reduce_scatter +/r +
Reduce_scatter_block +/r +
Scan +/r comm
Exscan +/r comm
`

// TestBuffersUsed holds what a rank uses, and where it may be in place, to that table.
func TestBuffersUsed(t *testing.T) {
	const size, me = 3, 1
	one := &Peers{Rank: me, Group: size}
	two := &Peers{Rank: me, Group: size, Other: 5}
	for kind, line := range strings.Split(strings.TrimSpace(buffersUsed), "\n") {
		row := strings.Fields(line)
		roles := []struct {
			c    *Peers
			root int
		}{{one, 0}, {two, 0}}
		if len(row) == 6 {
			roles = []struct {
				c    *Peers
				root int
			}{{one, me}, {one, 0}, {two, RootHere}, {two, ProcNull}, {two, 4}}
		}
		for i, role := range roles {
			if got := usedText(role.c, Description{Kind: Kind(kind), Root: role.root}); got != row[i+1] {
				t.Errorf("%s, column %d: %s, want %s", row[0], i+1, got, row[i+1])
			}
		}
	}
}

// usedText is a word of the table.
func usedText(c *Peers, k Description) string {
	u, err := k.uses(c)
	if errors.Is(err, sentinel.ErrComm) {
		return "comm"
	}
	if err != nil {
		return err.Error()
	}
	text := map[[2]bool]string{{}: "-", {true, false}: "s", {false, true}: "r", {true, true}: "+"}[[2]bool{u.in, u.out}]
	for _, place := range []struct {
		used, other *bool
		side        *Side
		left        string
	}{{&u.in, &u.out, &k.In, "r"}, {&u.out, &u.in, &k.Out, "s"}} {
		place.side.Place = true
		if _, err := k.uses(c); err == nil && *place.used {
			text += "/" + place.left
		} else if err != nil && !errors.Is(err, sentinel.ErrBuffer) {
			text += "/" + err.Error()
		}
		place.side.Place = false
	}
	return text
}

// TestRootsRefused: a root that is none is ErrRoot, and the call uses nothing.
func TestRootsRefused(t *testing.T) {
	one := &Peers{Rank: 1, Group: 3}
	two := &Peers{Rank: 1, Group: 3, Other: 5}
	for _, k := range []struct {
		c    *Peers
		root int
	}{{one, 3}, {one, -1}, {one, RootHere}, {one, ProcNull}, {two, 5}, {two, -1}} {
		for _, kind := range []Kind{KindBcast, KindGather, KindScatterv, KindReduce} {
			if _, err := (&Description{Kind: kind, Root: k.root}).uses(k.c); !errors.Is(err, sentinel.ErrRoot) {
				t.Errorf("kind %d, root %d of %d: %v", kind, k.root, k.c.Group, err)
			}
		}
	}
}
