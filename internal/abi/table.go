package abi

import "fmt"

// Table is all that a C program sees of MPI.
type Table struct {
	Functions  []Function // in the order of the header
	Extensions []Function // whose names begin with MPIX_
	Callbacks  []Function // types of functions that a program gives to MPI
	Sections   []Section
}

// Load reads the table.
func Load() (*Table, error) {
	t, err := parseFunctions(functionText)
	if err != nil {
		return nil, err
	}
	if t.Sections, err = parseConstants(constantText); err != nil {
		return nil, err
	}
	return &t, t.checkTable()
}

// checkTable finds names that are there twice, and callbacks that nobody defines.
func (t *Table) checkTable() error {
	seen := make(map[string]bool)
	for i := range t.Functions {
		for name := range t.Functions[i].Forms() {
			if seen[name] {
				return fmt.Errorf("abi: function %s is there twice", name)
			}
			seen[name] = true
		}
	}
	defined := make(map[string]bool)
	for i := range t.Callbacks {
		defined[t.Callbacks[i].Name] = true
	}
	for i := range t.Functions {
		for _, a := range t.Functions[i].Args {
			if a.callback && !defined[a.Kind] {
				return fmt.Errorf("abi: %s is given a %s, which nobody defines", t.Functions[i].Name, a.Kind)
			}
		}
	}
	return nil
}

// Constant finds a constant by its name without MPI_.
func (t *Table) Constant(name string) (Constant, bool) {
	for _, s := range t.Sections {
		for _, c := range s.Constants {
			if c.Name == name {
				return c, true
			}
		}
	}
	return Constant{}, false
}
