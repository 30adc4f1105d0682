//go:build !golci_invariants && !race

package hashtable

type mark struct{}

func (*mark) enter() {}
func (*mark) leave() {}
