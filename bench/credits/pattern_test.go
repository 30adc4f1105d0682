package credits

import "testing"

// TestPatterns: targets are other ranks; in the patterns of pairs nobody receives from two at once, and over the phases
// everybody meets everybody that the pattern lets meet.
func TestPatterns(t *testing.T) {
	for _, n := range []int{2, 3, 4, 7, 8, 30} {
		for _, p := range patterns {
			met := make(map[[2]int]bool)
			for phase := range 2 * n {
				from := make(map[int]int)
				for i := range n {
					for _, j := range p.targets(i, n, phase, 9) {
						if j < 0 || j >= n || j == i || met[[2]int{i, j}] && !p.rotates && phase == 0 {
							t.Fatalf("%s, %d ranks, phase %d: rank %d sends to %d", p.name, n, phase, i, j)
						}
						met[[2]int{i, j}] = true
						if from[j]++; from[j] > 1 && (p.name == "chain" || p.name == "oddpoll" || p.name == "pairs") {
							t.Fatalf("%s, %d ranks, phase %d: two send to %d", p.name, n, phase, j)
						}
					}
				}
			}
			want := map[string]int{"chain": n * (n - 1), "pairs": n * (n - 1), "oddpoll": (n / 2) * (n / 2), "hotspot": n - 1, "tree": 2 * (n - 1)}
			if k, ok := want[p.name]; ok && len(met) != k {
				t.Errorf("%s, %d ranks: %d pairs, want %d", p.name, n, len(met), k)
			}
		}
	}
}

// TestPairsAreMutual: partners agree.
func TestPairsAreMutual(t *testing.T) {
	for _, n := range []int{2, 5, 8, 64} {
		for phase := range n {
			for i := range n {
				for _, j := range pairs(i, n, phase, 0) {
					if back := pairs(j, n, phase, 0); len(back) != 1 || back[0] != i {
						t.Fatalf("%d ranks, phase %d: %d sends to %d, who sends to %v", n, phase, i, j, back)
					}
				}
			}
		}
	}
}
