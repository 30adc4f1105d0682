// Package report tells of a rank: what its calls and threads wait for, on SIGQUIT or when asked; what does not move;
// its performance variables; and its credits over time.
package report
