package dtype

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "ask the peers anew, and write testdata/peers.txt")

// peersHave lists the basics that both peers know, with the size that the ABI has.
var peersHave = map[Basic]bool{
	Short: true, Int: true, Long: true, Float: true, Double: true, LongDouble: true, Char: true, Byte: true,
	UnsignedShort: true, CFloatComplex: true, CDoubleComplex: true, FloatInt: true, DoubleInt: true, LongInt: true,
	TwoInt: true, ShortInt: true, LongDoubleInt: true, CBool: true, WChar: true, Int8: true, Uint64: true, Aint: true,
}

// peerCompilers make programs for MPICH and for Open MPI, in this order.
var peerCompilers = []string{"mpicc.mpich", "mpicc.openmpi"}

// The seed of the recipes in testdata/peers.txt, and their number.
const (
	peerSeed    = 1
	peerRecipes = 250
)

// TestPeers compares types with what MPICH and Open MPI have made of the same recipes. Where the two differ, one of
// them must agree. Bounds that were set for a type without data are left out: both forget them in most constructors.
func TestPeers(t *testing.T) {
	path := filepath.Join("testdata", "peers.txt")
	if *update {
		askPeers(t, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n, alone := 0, 0
	for line := range strings.Lines(string(text)) {
		parts := strings.Split(strings.TrimSpace(line), "; ")
		if strings.HasPrefix(line, "#") {
			continue
		}
		n++
		ours := peerLine(t, parts[0])
		switch {
		case strings.HasPrefix(ours, "0 ") && strings.HasPrefix(parts[1], "0 "):
		case len(parts) == 2 && ours == parts[1]:
		case len(parts) == 3 && (ours == parts[1] || ours == parts[2]):
			alone++
		default:
			t.Errorf("%s\n ours  %s\n peers %s", parts[0], ours, strings.Join(parts[1:], "\n       "))
		}
	}
	if n < peerRecipes/2 {
		t.Errorf("there are only %d recipes", n)
	}
	t.Logf("%d recipes; the peers differ on %d of them", n, alone)
}

// peerLine is the line that testdata/peer.c prints.
func peerLine(t *testing.T, recipe string) string {
	t.Helper()
	typ, m := mustRead(t, recipe)
	mem := newMemory(m, 2)
	for i := range mem.bytes {
		mem.bytes[i] = byte(uint64(int64(i)-mem.zero) * 2654435761 >> 13)
	}
	var c Cursor
	typ.Over(&c, mem.base(), 2)
	packed := make([]byte, c.Len())
	c.Pack(packed, 0)
	h := fnv.New64a()
	h.Write(packed)
	lb, extent := typ.Bounds()
	trueLB, trueExtent := typ.TrueBounds()
	return fmt.Sprintf("%d %d %d %d %d %016x", typ.Size(), lb, extent, trueLB, trueExtent, h.Sum64())
}

// askPeers writes new recipes with what the peers make of them. One result stands for both where they agree.
func askPeers(t *testing.T, path string) {
	var out strings.Builder
	out.WriteString("# A recipe of a datatype; what MPICH 4.0.2 and Open MPI 4.1.4 make of it, once if they agree.\n" +
		"# See peer.c. Written by: go test -run TestPeers -update\n")
	recipes := cookForPeers()
	results := make([][]string, len(peerCompilers))
	for i, cc := range peerCompilers {
		program := filepath.Join(t.TempDir(), "peer")
		compile := exec.Command(cc, "-O1", "-o", program, filepath.Join("testdata", "peer.c"))
		if text, err := compile.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", cc, err, text)
		}
		cmd := exec.Command(program)
		cmd.Stdin = strings.NewReader(strings.Join(recipes, "\n") + "\n")
		cmd.Stderr = os.Stderr
		text, err := cmd.Output()
		results[i] = strings.Split(strings.TrimSpace(string(text)), "\n")
		if err != nil || len(results[i]) != len(recipes) {
			t.Fatalf("%s: %d results for %d recipes, %v", cc, len(results[i]), len(recipes), err)
		}
	}
	for i, r := range recipes {
		fmt.Fprintf(&out, "%s; %s", r, results[0][i])
		if results[1][i] != results[0][i] {
			fmt.Fprintf(&out, "; %s", results[1][i])
		}
		out.WriteString("\n")
	}
	if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// cookForPeers makes recipes of types that are not too large for a table.
func cookForPeers() (recipes []string) {
	r := rand.New(rand.NewPCG(peerSeed, 0))
	c := &cook{pick: r.IntN, tame: true}
	for len(recipes) < peerRecipes {
		recipe := c.recipe(1 + r.IntN(4))
		if _, m, err := read(recipe); err == nil && len(recipe) < 200 && !m.huge && len(m.entries) < mostBasics {
			recipes = append(recipes, recipe)
		}
	}
	return recipes
}
