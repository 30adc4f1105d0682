// Package lint holds the rules of this project that no tool knows, as tests over its own source: which package may
// import which, what a package without input and output may not touch, and what every test must have.
package lint
