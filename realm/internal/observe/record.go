package observe

import "github.com/golci/golci/internal/observe/trace"

// Kind says what an operation does.
type Kind uint8

// Kinds of operations.
const (
	Task Kind = iota
	Copy
	Gather
	Scatter
	Fill
	Destroy
	Reduce
	Acquire
	Arrive
	Instance
	Kinds
)

// String names the kind.
func (k Kind) String() string {
	return [...]string{
		"task", "copy", "gather", "scatter", "fill", "destroy", "reduce", "acquire", "arrive", "instance",
	}[min(k, Kinds-1)]
}

// Outcome is what became of an operation.
type Outcome uint8

// Outcomes.
const (
	Completed Outcome = iota
	Failed
	Skipped
)

// Words of a record. A record travels as they are.
const (
	Finish = iota // the event
	What          // from the low end 8 bits each: kind, outcome; then the place of a task in the catalog, or Nowhere
	Processor
	Waits // how often a task has waited
	Waited
	Source // instances
	Target
	From // memories
	To
	Bytes
	Reservation
	Create // moments, by the clock of the log until the record is delivered
	Ready
	Start
	End
	Complete
	Words
)

// Nowhere is the place of a task that has none.
const Nowhere = 1<<31 - 1

const placeShift = 16 // of What

// Record is what is known of an operation. It takes two cache lines.
type Record [Words]uint64

func (r *Record) kind() Kind { return Kind(r[What]) }

// Place is where the task is in the catalog.
func (r *Record) Place() uint64 { return r[What] >> placeShift }

// SetPlace sets the place of a task.
func (r *Record) SetPlace(place int) { r[What] |= uint64(place) << placeShift }

func (r *Record) setOutcome(o Outcome) { r[What] = r[What]&^(0xFF<<8) | uint64(o)<<8 }

// Parse tells kind and outcome; false if there are none of these.
func (r *Record) Parse() (k Kind, o Outcome, ok bool) {
	k, o = r.kind(), Outcome(r[What]>>8)
	return k, o, k < Kinds && o <= Skipped
}

// scale makes times since the clock began of those that it has shown. Those that have not come stay 0.
func (b *Batch) scale(c *trace.Clock) {
	scale := c.Scale()
	for i := range b.List {
		r := &b.List[i]
		if r[Waits] > 0 {
			r[Waited] = uint64(scale(r[Start]+r[Waited]) - scale(r[Start]))
		}
		for m := Create; m <= Complete; m++ {
			if r[m] != 0 {
				r[m] = uint64(scale(r[m]))
			}
		}
	}
}
