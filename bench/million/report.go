package million

import (
	"fmt"
	"slices"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/mpi"
)

// report puts what the two ranks saw together; rank 0 hands it out.
type report struct {
	comm    *mpi.Comm
	threads int // of a rank
	out     func(bench.Row)
}

func (r *report) sum(mine ...float64) ([]float64, error) {
	both := make([]float64, len(mine))
	return both, mpi.Allreduce(r.comm, mine, both, mpi.Sum)
}

func (r *report) row(name string, value float64, unit, note string) {
	if r.comm.Rank() != 0 {
		return
	}
	r.out(bench.Row{
		Bench: name, Impl: bench.Golci, Size: size, Threads: r.threads, Value: value, Unit: unit, MinShare: 1, Note: note,
	})
}

const size = 8

func (r *report) memory(m memory) error {
	both, err := r.sum(float64(m.resident), float64(m.heap), float64(m.stacks))
	if err != nil {
		return err
	}
	n := float64(2 * r.threads)
	r.row(Memory, both[0]/n, Bytes, "resident, a thread")
	r.row(GoMemory, (both[1]+both[2])/n, Bytes, fmt.Sprintf("heap %.0f, stacks %.0f, a thread", both[1]/n, both[2]/n))
	return nil
}

// rounds reports the median. A round ends at the same moment for both ranks, so rank 0's times stand for both.
func (r *report) rounds(times []time.Duration) error {
	slices.Sort(times)
	rate := func(d time.Duration) float64 { return float64(2*r.threads) / d.Seconds() }
	note := fmt.Sprintf("%d rounds, %.2f to %.2f M", len(times), rate(times[len(times)-1])/1e6, rate(times[0])/1e6)
	r.row(Rate, rate(times[len(times)/2]), bench.PerSecond, note)
	return nil
}

// collection adds the rates of the ranks and reports the mean of their times.
func (r *report) collection(c collection) error {
	rate := float64(c.served) / c.took.Seconds()
	both, err := r.sum(rate, ms(c.took), ms(c.pause))
	if err != nil {
		return err
	}
	r.row(Collecting, both[0], bench.PerSecond, "both ranks collecting")
	r.row(CollectionMs, both[1]/2, Milli, "runtime.GC, mean of the ranks")
	r.row(PauseMs, both[2]/2, Milli, "stopped, mean of the ranks")
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
