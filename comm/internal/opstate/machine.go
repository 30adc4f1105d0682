package opstate

import "fmt"

// Input is something that happens to an operation.
type Input uint8

// Step is what an input leads to in a state.
type Step struct {
	Next State
	Take Holders // parties that have a hand from now on
	Drop Holders // parties that let go; they must have a hand
	Do   uint8   // what the caller is to do, by the numbers of the machine's owner
	Is   bool    // the step exists; false in what a table does not name
}

// Machine is a table of steps by state and input. It does not change.
type Machine struct {
	name   string
	states []string
	inputs []string
	steps  [][]Step
}

// Rule is a line of a machine.
type Rule struct {
	from []State
	on   Input
	stay bool
	step Step
}

// On begins a rule: in leads to a step in each of the states from. The state stays unless To says otherwise.
func On(in Input, from ...State) Rule { return Rule{from: from, on: in, stay: true} }

// To names the next state.
func (r Rule) To(s State) Rule {
	r.stay, r.step.Next = false, s
	return r
}

// Take has parties take a hand in the operation.
func (r Rule) Take(h Holders) Rule {
	r.step.Take = h
	return r
}

// Drop has parties let go, which must have a hand: else there is no step.
func (r Rule) Drop(h Holders) Rule {
	r.step.Drop = h
	return r
}

// Do is what the caller of Step is to do.
func (r Rule) Do(what uint8) Rule {
	r.step.Do = what
	return r
}

// NewMachine makes a machine. states and inputs name them, by their numbers. It panics if two rules are for one state
// and input, or one for state 0, because a machine is a constant of the program.
func NewMachine(name string, states, inputs []string, rules ...Rule) *Machine {
	m := &Machine{name: name, states: states, inputs: inputs, steps: make([][]Step, len(states))}
	for i := range m.steps {
		m.steps[i] = make([]Step, len(inputs))
	}
	for _, r := range rules {
		for _, s := range r.from {
			m.addRule(s, r)
		}
	}
	return m
}

func (m *Machine) addRule(s State, r Rule) {
	at := &m.steps[s][r.on]
	if at.Is || s == 0 {
		panic(fmt.Sprintf("machine: %s: a wrong step for %s in %s", m.name, m.inputs[r.on], m.states[s]))
	}
	*at = r.step
	at.Is = true
	if r.stay {
		at.Next = s
	}
}

// StateName and InputName are for messages.
func (m *Machine) StateName(s State) string { return m.states[s] }

// InputName is described at StateName.
func (m *Machine) InputName(in Input) string { return m.inputs[in] }
