package mpi

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/golci/golci/internal/platform/invariants"
)

// sortOf are calls by name. What a rank gives as "me" or "next" is another one on each rank.
var sortOf = map[string]func(c *Comm) error{
	"nothing":      func(*Comm) error { return nil },
	"barrier":      func(c *Comm) error { return c.Barrier() },
	"ibarrier":     func(c *Comm) error { return completed(c.Ibarrier()) },
	"bcast 0":      func(c *Comm) error { return Bcast(c, one(), 0) },
	"bcast me":     func(c *Comm) error { return Bcast(c, one(), c.Rank()) },
	"bcast two":    func(c *Comm) error { return Bcast(c, make([]int, 2), 0) },
	"bcast float":  func(c *Comm) error { return Bcast(c, make([]float64, 1), 0) },
	"ibcast 0":     func(c *Comm) error { return completed(Ibcast(c, one(), 0)) },
	"reduce 0":     func(c *Comm) error { return Reduce(c, one(), one(), Sum, 0) },
	"reduce next":  func(c *Comm) error { return Reduce(c, one(), one(), Sum, (c.Rank()+1)%c.Size()) },
	"reduce max":   func(c *Comm) error { return Reduce(c, one(), one(), Max, 0) },
	"gather 0":     func(c *Comm) error { return Gather(c, one(), counts(c, 0), 0) },
	"gather next":  func(c *Comm) error { return Gather(c, one(), counts(c, 0), (c.Rank()+1)%c.Size()) },
	"scatter 0":    func(c *Comm) error { return Scatter(c, counts(c, 0), one(), 0) },
	"scatter me":   func(c *Comm) error { return Scatter(c, counts(c, 0), one(), c.Rank()) },
	"allreduce":    func(c *Comm) error { return Allreduce(c, one(), one(), Sum) },
	"max":          func(c *Comm) error { return Allreduce(c, one(), one(), Max) },
	"own":          func(c *Comm) error { return Allreduce(c, one(), one(), Func(func(a, b int) int { return a + b })) },
	"floats":       func(c *Comm) error { return Allreduce(c, make([]float64, 1), make([]float64, 1), Sum) },
	"iallreduce":   func(c *Comm) error { return completed(Iallreduce(c, one(), one(), Sum)) },
	"scan":         func(c *Comm) error { return Scan(c, one(), one(), Sum) },
	"exscan":       func(c *Comm) error { return Exscan(c, one(), one(), Sum) },
	"allgather":    func(c *Comm) error { return Allgather(c, one(), counts(c, 0)) },
	"alltoall":     func(c *Comm) error { return Alltoall(c, counts(c, 0), counts(c, 0)) },
	"reduce block": func(c *Comm) error { return ReduceScatterBlock(c, counts(c, 1), one(), Sum) },
}

func completed(r Request, err error) error {
	if err == nil {
		_, err = r.Wait()
	}
	return err
}

// disagreement is what rank 0 calls, and what the others call.
type disagreement struct {
	zero, others string
	types        bool // only the types of elements differ
}

var disagreements = []disagreement{
	{"bcast me", "bcast me", false},
	{"reduce next", "reduce next", false},
	{"gather next", "gather next", false},
	{"scatter me", "scatter me", false},
	{"bcast 0", "barrier", false},
	{"bcast 0", "allreduce", false},
	{"bcast 0", "scatter me", false},
	{"barrier", "reduce 0", false},
	{"barrier", "gather 0", false},
	{"allreduce", "allgather", false},
	{"allreduce", "scan", false},
	{"bcast 0", "reduce 0", false},
	{"bcast 0", "gather 0", false},
	{"allreduce", "max", false},
	{"allreduce", "own", false},
	{"reduce 0", "reduce max", false},
	{"allreduce", "iallreduce", false},
	{"iallreduce", "allreduce", false},
	{"barrier", "ibarrier", false},
	{"bcast 0", "ibcast 0", false},
	{"ibarrier", "iallreduce", false},
	{"bcast 0", "bcast two", false},
	{"scan", "exscan", false},
	{"alltoall", "allgather", false},
	{"alltoall", "reduce block", false},
	{"allreduce", "floats", true},
	{"bcast 0", "bcast float", true},
}

// disagreementErrors are what a rank may get.
var disagreementErrors = []error{ErrMismatch, ErrCount, ErrTruncate, ErrType}

func disagrees(err error) bool {
	return slices.ContainsFunc(disagreementErrors, func(e error) bool { return errors.Is(err, e) })
}

// How late a disagreement may be found: in the call, in the barrier after it, or later. A barrier of three ranks by
// messages may go well at a rank; then it is the barrier after that.
const (
	inCall = iota
	inNext
	inFinalize
)

// warmths are how many calls come before a disagreement: none, as many as come before ranks make a shared segment, and
// more.
var warmths = []int{0, 7, 10}

// disagree makes all disagreements on communicators of their own, after calls that agree, and tells what is wrong. late
// is how late they may be found; those in types are left out without types.
func disagree(c *Comm, late int, types bool, warm ...int) error {
	var wrong []error
	for _, warm := range warm {
		for _, x := range disagreements {
			if x.types && !types {
				continue
			}
			d, err := c.Dup()
			for i := 0; i < warm && err == nil; i++ {
				err = d.Barrier()
			}
			if err != nil {
				return fmt.Errorf("before %v: %w", x, err)
			}
			name := x.others
			if d.Rank() == 0 {
				name = x.zero
			}
			err = sortOf[name](d)
			for i := 0; err == nil && i < 2*late; i++ {
				err = d.Barrier()
			}
			if !disagrees(err) {
				wrong = append(wrong, fmt.Errorf("rank %d of %d: %v as call %d: %w", d.Rank(), d.Size(), x, warm+1, err))
			}
			if err := errors.Join(c.Barrier(), d.Free()); err != nil {
				return fmt.Errorf("after %v: %w", x, err)
			}
		}
	}
	return errors.Join(wrong...)
}

// TestDisagreement: ranks that disagree all get an error: in the call itself where types are checked, else in the next
// call that all make.
func TestDisagreement(t *testing.T) {
	for _, conduit := range []string{"local", "udp"} {
		for _, check := range []string{"types", "off"} {
			for _, where := range []string{"memory", "messages", "auto"} {
				if testing.Short() && (conduit == "udp" || where == "auto") {
					continue
				}
				for _, n := range []int{2, 3} {
					warm := warmths
					if invariants.Race { // other numbers of ranks, and of calls before, bring no other goroutines
						if n == 2 {
							continue
						}
						warm = warmths[len(warmths)-1:]
					}
					t.Run(fmt.Sprintf("%s/%s/%s/%d", conduit, check, where, n), func(t *testing.T) {
						t.Parallel()
						late := inNext
						if check == "types" {
							late = inCall
						}
						must(t, n, func(c *Comm) error { return disagree(c, late, check == "types", warm...) },
							With("GOLCI_CONDUIT", conduit), With("GOLCI_CHECK", check), With("GOLCI_COLLECTIVES", where))
					})
				}
			}
		}
	}
}

// TestFinalizeFinds: ranks that disagree in their last call get an error from Finalize at the latest, also if they have
// freed the communicator.
func TestFinalizeFinds(t *testing.T) {
	for _, x := range append(slices.Clone(disagreements), disagreement{"nothing", "reduce 0", false}) {
		if x.types {
			continue
		}
		for _, n := range []int{2, 3} {
			if invariants.Race && n == 2 {
				continue // three ranks have the goroutines of two
			}
			for i := range 4 {
				free, where := i%2 == 1, []string{"memory", "messages"}[i/2]
				t.Run(fmt.Sprintf("%v/%d/%v/%s", x, n, free, where), func(t *testing.T) {
					found := make([]error, n)
					err := job(t, n, func(c *Comm) error {
						d, err := c.Dup()
						for i := 0; i < 10 && err == nil; i++ {
							err = d.Barrier()
						}
						if err != nil {
							return err
						}
						name := x.others
						if c.Rank() == 0 {
							name = x.zero
						}
						found[c.Rank()] = sortOf[name](d)
						if free {
							_ = d.Free() // which may tell of messages that are left
						}
						return nil
					}, With("GOLCI_CHECK", "off"), With("GOLCI_COLLECTIVES", where))
					if !disagrees(errors.Join(append(found, err)...)) {
						t.Errorf("the calls gave %v, the job %v", found, err)
					}
				})
			}
		}
	}
}

// TestAgreement: ranks that agree get no error, whatever they call. Then one of them calls something else, and all get
// an error in that call or the next ones, in which they agree.
func TestAgreement(t *testing.T) {
	names := make([]string, 0, len(sortOf))
	for name := range sortOf {
		if !slices.Contains([]string{"nothing", "bcast me", "reduce next", "gather next", "scatter me"}, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	seed := source(t)
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	for _, where := range []string{"memory", "messages"} {
		for _, check := range []string{"types", "off"} {
			for n := 2; n <= 4; n++ {
				t.Run(fmt.Sprintf("%s/%s/%d", where, check, n), func(t *testing.T) {
					must(t, n, func(c *Comm) error {
						rnd := random(seed, n) // the same on all ranks
						for range rounds {
							d, err := c.Dup()
							if err != nil {
								return err
							}
							calls := rnd.IntN(40)
							for i := range calls {
								if err := sortOf[names[rnd.IntN(len(names))]](d); err != nil {
									return fmt.Errorf("call %d of those that agree: %w", i, err)
								}
							}
							odd, a, b := rnd.IntN(n), rnd.IntN(len(names)), rnd.IntN(len(names)-1)
							if b >= a {
								b++
							}
							name := names[a]
							if c.Rank() == odd {
								name = names[b]
							}
							if check == "off" && sameButTypes(names[a], names[b]) {
								continue
							}
							err = sortOf[name](d)
							for i := 0; err == nil && i < 4; i++ {
								err = d.Barrier()
							}
							if !disagrees(err) {
								return fmt.Errorf("rank %d of %d calls %s, another %s or %s, as call %d: %w", c.Rank(), n,
									name, names[a], names[b], calls+1, err)
							}
						}
						return nil
					}, With("GOLCI_COLLECTIVES", where), With("GOLCI_CHECK", check))
				})
			}
		}
	}
}

func sameButTypes(a, b string) bool {
	return slices.ContainsFunc(disagreements, func(x disagreement) bool {
		return x.types && (x.zero == a && x.others == b || x.zero == b && x.others == a)
	})
}
