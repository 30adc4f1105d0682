// Package groupmsg has the meetings of ranks in the system context: groups that agree on something without a
// communicator of their own, such as the number of a new one. It says which message belongs to which meeting.
package groupmsg

import (
	"fmt"

	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/group"
)

// Name is the name of a meeting, the same on all ranks that take part. It is the first word of each of its messages.
// Different meetings have different names, but for a chance of about 2^-64 a pair.
type Name uint64

// Reason keeps apart what a group may meet for under the same tag.
type Reason uint8

// Reasons of meetings.
const (
	CreateGroup Reason = iota // MPI_Comm_create_group (7.4.2)
	FromGroup                 // MPI_Comm_create_from_group
	Intercomm                 // MPI_Intercomm_create
	FromGroups                // MPI_Intercomm_create_from_groups
	Agreement                 // MPIX_Comm_agree and MPIX_Comm_shrink
	Spawned                   // MPI_Comm_spawn: those who spawn, and the processes that they have spawned
	Connected                 // MPI_Comm_accept and MPI_Comm_connect
	Members                   // calls of all ranks of a communicator
	reasons
)

// Make names the meeting of the processes of groups. The order of ranks matters, and that of groups: two sides of one
// meeting must name their groups in the same order. parent is the 64-bit name of the communicator or session that all
// know. text is the string tag of meetings that have one, else "".
func Make(reason Reason, parent uint64, tag int, text string, groups ...*group.Group) Name {
	h := mix(parent + uint64(reason)<<56)
	h = mix(h ^ uint64(tag))
	h = mix(h ^ uint64(len(text)))
	for i := 0; i < len(text); i += 8 {
		h = mix(h ^ word(text[i:min(i+8, len(text))]))
	}
	for _, g := range groups {
		h = mix(h ^ uint64(g.Size()))
		for rank := range g.Size() {
			h = mix(h ^ uint64(g.At(rank)))
		}
	}
	return Name(h)
}

// word is at most eight bytes as a number.
func word(s string) (w uint64) {
	for i := range len(s) {
		w |= uint64(s[i]) << (8 * i)
	}
	return w
}

// mix spreads the bits of a word, one to one.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// tagBits is the length of the tag of a message.
const tagBits = 28

// Tag is the tag of the messages of a meeting. Others may have the same.
func (n Name) Tag() int { return int(n >> (64 - tagBits)) }

// Size is the length of a name in a message.
const Size = 8

// Append begins a message of the meeting: what follows is its contents.
func (n Name) Append(b []byte) []byte {
	for i := range Size {
		b = append(b, byte(n>>(8*i)))
	}
	return b
}

// Cut parts a message in its name and its contents. errs.Intern: it is too short.
func Cut(b []byte) (n Name, contents []byte, err error) {
	if len(b) < Size {
		return 0, nil, fmt.Errorf("%w: a message of %d bytes in the system context", errs.Intern, len(b))
	}
	return Name(word(string(b[:Size]))), b[Size:], nil
}
