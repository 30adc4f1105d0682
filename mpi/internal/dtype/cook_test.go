package dtype

import (
	"fmt"
	"strings"
)

// cook writes recipes of nested types. All its choices are calls of pick, a number below n, so that chance or a fuzzer
// makes them.
type cook struct {
	pick func(n int) int
	tame bool // only what all peers take: see peers_test.go
}

func (c *cook) between(low, high int) int { return low + c.pick(high-low+1) }

func (c *cook) basic() string {
	for {
		b := facts[c.pick(len(facts))]
		if !c.tame || peersHave[b.id] {
			return b.name
		}
	}
}

// recipe has at most depth constructors around one another.
func (c *cook) recipe(depth int) string {
	if depth == 0 || c.pick(8) == 0 {
		return c.basic()
	}
	kinds := []func(depth int) string{
		c.contig, c.vector, c.hvector, c.indexed, c.hindexed, c.iblock, c.hiblock, c.structure, c.resized, c.dup,
		c.subarray, c.darray,
	}
	return kinds[c.pick(len(kinds))](depth - 1)
}

func (c *cook) contig(depth int) string {
	return fmt.Sprintf("contig %d %s", c.between(0, 5), c.recipe(depth))
}

func (c *cook) vector(depth int) string {
	return fmt.Sprintf("vector %d %d %d %s", c.between(0, 5), c.between(0, 4), c.between(-6, 6), c.recipe(depth))
}

func (c *cook) hvector(depth int) string {
	return fmt.Sprintf("hvector %d %d %d %s", c.between(0, 5), c.between(0, 4), c.between(-40, 40), c.recipe(depth))
}

// blocks is how many blocks an indexed type has: now and then more than are taken apart.
func (c *cook) blocks() int {
	if c.pick(10) == 0 {
		return c.between(fewPieces, fewPieces+4)
	}
	return c.between(0, 5)
}

func (c *cook) indexed(depth int) string { return c.anyIndexed("indexed", 12, depth) }

func (c *cook) hindexed(depth int) string { return c.anyIndexed("hindexed", 60, depth) }

func (c *cook) anyIndexed(name string, reach, depth int) string {
	var b strings.Builder
	n := c.blocks()
	fmt.Fprintf(&b, "%s %d", name, n)
	for range n {
		fmt.Fprintf(&b, " %d %d", c.between(0, 3), c.between(-reach, reach))
	}
	return b.String() + " " + c.recipe(depth)
}

func (c *cook) iblock(depth int) string { return c.anyBlock("iblock", 12, depth) }

func (c *cook) hiblock(depth int) string { return c.anyBlock("hiblock", 60, depth) }

func (c *cook) anyBlock(name string, reach, depth int) string {
	var b strings.Builder
	n := c.blocks()
	fmt.Fprintf(&b, "%s %d %d", name, n, c.between(0, 3))
	step, regular := c.between(-reach, reach), c.pick(3) == 0
	for i := range n {
		d := c.between(-reach, reach)
		if regular {
			d = i * step
		}
		fmt.Fprintf(&b, " %d", d)
	}
	return b.String() + " " + c.recipe(depth)
}

func (c *cook) structure(depth int) string {
	var b strings.Builder
	n := c.between(0, 4)
	fmt.Fprintf(&b, "struct %d", n)
	for range n {
		fmt.Fprintf(&b, " %d %d %s", c.between(0, 3), c.between(-60, 60), c.recipe(depth))
	}
	return b.String()
}

func (c *cook) resized(depth int) string {
	return fmt.Sprintf("resized %d %d %s", c.between(-20, 20), c.between(-40, 60), c.recipe(depth))
}

func (c *cook) dup(depth int) string { return "dup " + c.recipe(depth) }

func (c *cook) order() string { return [2]string{"C", "F"}[c.pick(2)] }

func (c *cook) subarray(depth int) string {
	n := c.between(1, 3)
	var sizes, subs, starts string
	for range n {
		size := c.between(1, 5)
		sub := c.between(1, size)
		sizes += fmt.Sprintf(" %d", size)
		subs += fmt.Sprintf(" %d", sub)
		starts += fmt.Sprintf(" %d", c.between(0, size-sub))
	}
	return fmt.Sprintf("subarray %d %s%s%s%s %s", n, c.order(), sizes, subs, starts, c.recipe(depth))
}

func (c *cook) darray(depth int) string {
	n, ranks := c.between(1, 3), 1
	var gsizes, how, dargs, psizes string
	for range n {
		g, p := c.between(1, 7), c.between(1, 3)
		kind := "nbc"[c.pick(3)]
		darg := 0
		switch {
		case kind == 'n':
			p = 1
		case kind == 'c' && c.pick(2) == 0:
			darg = c.between(1, 3)
		case kind == 'b' && c.pick(2) == 0:
			darg = (g+p-1)/p + c.pick(2)
		}
		ranks *= p
		gsizes += fmt.Sprintf(" %d", g)
		how += " " + string(kind)
		dargs += fmt.Sprintf(" %d", darg)
		psizes += fmt.Sprintf(" %d", p)
	}
	return fmt.Sprintf("darray %d %d %d %s%s%s%s%s %s", ranks, c.pick(ranks), n, c.order(), gsizes, how, dargs, psizes,
		c.recipe(depth))
}
