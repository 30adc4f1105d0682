package realmtest

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"strings"
)

// payload is what a reservation guards: the first value is the sum of the others.
type payload [8]int64

// add changes the payload. The order of such changes does not matter.
func (p *payload) add(x int64) {
	p[0] += x
	p[1+uint64(x)%7] += x
}

func (p *payload) whole() bool {
	sum := int64(0)
	for _, x := range p[1:] {
		sum += x
	}
	return p[0] == sum
}

// state is all that a job has in the end.
type state struct {
	values [][]int64 // of each array, by point less lo
	locks  []payload
	phases [][]int64 // the results of each barrier; those of poisoned phases are 0
}

func newState(p *Plan) state {
	s := state{locks: make([]payload, len(p.locks)), phases: make([][]int64, len(p.barriers))}
	for i := range p.arrays {
		a := &p.arrays[i]
		v := make([]int64, a.hi-a.lo)
		for k := range v {
			if a.has(a.lo + int64(k)) {
				v[k] = initial(i, a.lo+int64(k))
			}
		}
		s.values = append(s.values, v)
	}
	return s
}

// initial is the value of a point of array i before the first operation.
func initial(i int, at int64) int64 { return int64(i+1)*1_000_003 + at }

// mixed is what a task leaves where old was.
func mixed(old, other, x int64) int64 { return 3*old + other + x }

// argument is argument k of a long task.
func argument(x int64, k int) int64 { return x ^ int64(k)*0x9E3779B9 }

// arrival is the value that a rank arrives with.
func arrival(x int64, rank int) int64 { return x + int64(rank)*7 }

// do executes o.
func (s *state) do(p *Plan, o *op) {
	switch o.kind {
	case addTask:
		s.addTask(p, o)
	case longTask:
		for k, i := range o.points {
			v := s.at(p, o.dst, i)
			*v = mixed(*v, argument(o.x, k), 0)
		}
	case fillData:
		for _, i := range o.points {
			*s.at(p, o.dst, i) = o.x
		}
	case foldData, listData:
		for k, i := range o.index {
			*s.at(p, o.dst, i) += o.x + int64(k)
		}
	case copyData, gatherData, scatterData:
		s.move(p, o)
	case hold:
		s.locks[o.lock].add(o.x)
	case everywhere:
		for r := range p.Ranks {
			for range CPUs {
				s.locks[o.lock].add(arrival(o.x, r))
			}
		}
	case phase:
		sum := int64(0)
		for r := range p.Ranks {
			sum += arrival(o.x, r)
		}
		s.enter(o, sum)
	}
}

// enter sets the result of a phase.
func (s *state) enter(o *op, result int64) {
	for len(s.phases[o.barrier]) < o.number {
		s.phases[o.barrier] = append(s.phases[o.barrier], 0)
	}
	s.phases[o.barrier] = append(s.phases[o.barrier], result)
}

func (s *state) at(p *Plan, i int, point int64) *int64 { return &s.values[i][point-p.arrays[i].lo] }

func (s *state) addTask(p *Plan, o *op) {
	for _, i := range p.arrays[o.dst].points() {
		other := int64(0)
		if p.arrays[o.src].has(i) {
			other = *s.at(p, o.src, i)
		}
		v := s.at(p, o.dst, i)
		*v = mixed(*v, other, o.x)
	}
}

func (s *state) move(p *Plan, o *op) {
	switch o.kind {
	case copyData:
		points := o.points
		if points == nil {
			points = p.arrays[o.src].points()
		}
		for _, i := range points {
			if p.arrays[o.dst].has(i) {
				*s.at(p, o.dst, i) = *s.at(p, o.src, i)
			}
		}
	case gatherData:
		for k, i := range o.points {
			*s.at(p, o.dst, i) = *s.at(p, o.src, o.index[k])
		}
	case scatterData:
		for k, i := range o.points {
			*s.at(p, o.dst, o.index[k]) = *s.at(p, o.src, i)
		}
	}
}

// text is s and the outcomes of operations, one byte each.
func (s *state) text(outcomes []byte) string {
	var b strings.Builder
	for i, v := range s.values {
		h := fnv.New64a()
		_ = binary.Write(h, binary.LittleEndian, v) // a hash has no error
		fmt.Fprintf(&b, "array %d: %d values, %016x\n", i, len(v), h.Sum64())
	}
	for i, l := range s.locks {
		fmt.Fprintf(&b, "reservation %d: %d\n", i, l)
	}
	for i, ph := range s.phases {
		fmt.Fprintf(&b, "barrier %d: %d\n", i, ph)
	}
	fmt.Fprintf(&b, "operations: %s\n", outcomes)
	return b.String()
}

// Outcomes of an operation in a text.
const (
	done     = '.'
	poisoned = 'x'
)

// Text is what the job is to end with, by the serial execution.
func (p *Plan) Text() string {
	outcomes := make([]byte, len(p.ops))
	for i := range p.ops {
		if outcomes[i] = done; p.ops[i].causes != nil {
			outcomes[i] = poisoned
		}
	}
	return p.ends.text(outcomes)
}
