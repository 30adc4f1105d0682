// Package cores decides what runs where in a rank: how many workers it has, to which cores they are bound, and whether
// it has a dedicated server. Ranks of a node tell each other what they may use.
package cores
